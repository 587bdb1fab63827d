#include "tlaloc/llm/engine.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <unordered_set>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/lang/apply.h"
#include "tlaloc/lang/node.h"
#include "tlaloc/llm/leaves.h"
#include "tlaloc/llm/step.h"

namespace tlaloc::llm {
namespace {

using text::TokenId;

constexpr std::int64_t kMostTokens = std::numeric_limits<std::int32_t>::max();

std::int64_t pages_for(std::int64_t tokens, std::int64_t page) {
  return (tokens + page - 1) / page;
}

}  // namespace

/// The pages that sequences take theirs from.
class PagePool {
 public:
  std::int64_t page = 0, most = 0;  ///< tokens in a page; pages at most
  std::int64_t count = 0;           ///< pages that were taken at one time
  std::int64_t epoch = 0;           ///< goes up when all that was kept is lost

  std::int64_t available() const { return static_cast<std::int64_t>(free_.size()) + most - count; }
  /// The lowest: what there is memory for comes before what there is none for yet.
  std::int32_t take() {
    if (free_.empty()) return static_cast<std::int32_t>(count++);
    std::ranges::pop_heap(free_, std::greater<>());
    const std::int32_t page_number = free_.back();
    free_.pop_back();
    return page_number;
  }
  void give(std::int32_t page_number) {
    free_.push_back(page_number);
    std::ranges::push_heap(free_, std::greater<>());
  }
  /// Pages from `pages` on, which are free, were never taken.
  void cut(std::int64_t pages) {
    std::erase_if(free_, [&](std::int32_t p) { return p >= pages; });
    std::ranges::make_heap(free_, std::greater<>());
    count = std::min(count, pages);
  }
  void lose_all() {
    free_.clear();
    count = 0;
    ++epoch;
  }

 private:
  std::vector<std::int32_t> free_;
};

struct Sequence::State {
  std::shared_ptr<PagePool> pool;
  std::int64_t epoch;
  std::vector<std::int32_t> pages;
  std::int64_t size = 0;

  explicit State(std::shared_ptr<PagePool> p) : pool(std::move(p)), epoch(pool->epoch) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { resize(0); }

  /// Forgets what is lost.
  void settle() {
    if (epoch == pool->epoch) return;
    pages.clear();
    size = 0;
    epoch = pool->epoch;
  }
  void resize(std::int64_t tokens) {
    settle();
    const auto wanted = static_cast<std::size_t>(pages_for(tokens, pool->page));
    while (pages.size() > wanted) {
      pool->give(pages.back());
      pages.pop_back();
    }
    while (pages.size() < wanted) pages.push_back(pool->take());
    size = tokens;
  }
};

Sequence::Sequence() = default;
Sequence::Sequence(Sequence&&) noexcept = default;
Sequence& Sequence::operator=(Sequence&&) noexcept = default;
Sequence::~Sequence() = default;
std::int64_t Sequence::size() const {
  if (!state_) return 0;
  state_->settle();
  return state_->size;
}
void Sequence::truncate(std::int64_t size) {
  if (size < this->size()) state_->resize(std::max<std::int64_t>(size, 0));
}

struct Engine::State {
  std::shared_ptr<const Model> model;
  EngineOptions options;
  std::shared_ptr<PagePool> pool = std::make_shared<PagePool>();
  std::shared_ptr<const runtime::Bound> step;
  std::vector<PoolType> pool_types;
  std::vector<runtime::Buffer> pools;  // where the step has them
  std::int64_t pool_pages = 0;         // of each

  /// Pools of no page.
  void make_pools();
  /// Memory for at least the pages that are taken.
  void grow();
  /// Tokens of one step: the next `counts[i]` of works[i], from `begins[i]` on. The logits of those
  /// that are wanted, in order.
  HostArray run_step(std::span<const Work> works, std::span<const std::int64_t> begins,
                     std::span<const std::int64_t> counts);
  void check(std::span<const Work> works) const;
};

std::int64_t token_bytes(const DecoderSpec& spec) {
  std::int64_t bytes = 0;
  for (const PoolType& p : pool_types(spec, 1)) {
    bytes += element_count(p.extents(1)) * byte_size(p.dtype);
  }
  return bytes;
}

Engine::Engine(std::shared_ptr<const Model> model, const EngineOptions& options)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.model = std::move(model);
  s.options = options;
  const DecoderSpec& spec = s.model->spec();
  if (s.options.context <= 0) s.options.context = spec.context;
  if (s.options.context > spec.context) {
    throw UserError({"TL-LLM-004",
                     "llm::Engine",
                     "a context of " + std::to_string(s.options.context) +
                         " is more than the model's " + std::to_string(spec.context),
                     "give a smaller one; where the model allows a larger one, open it with that",
                     {}});
  }
  s.options.page = std::max<std::int64_t>(s.options.page, 1);
  s.options.chunk = std::max<std::int64_t>(s.options.chunk, 1);
  if (s.options.tokens <= 0) s.options.tokens = s.options.context;
  // Places in the pool are numbers of 32 bits.
  if (s.options.page > kMostTokens || s.options.tokens > kMostTokens - s.options.page) {
    throw UserError({"TL-LLM-005",
                     "llm::Engine",
                     "a pool of " + std::to_string(s.options.tokens) + " tokens in pages of " +
                         std::to_string(s.options.page) + " is more than an engine has places for",
                     "make several engines, or one with fewer tokens",
                     {}});
  }
  s.pool->page = s.options.page;
  s.pool->most = pages_for(s.options.tokens, s.options.page);

  StepProgram program =
      step_program(spec, s.model->weights, s.options.page,
                   s.options.activations == QuantActivation::f32 ? ops::Activation::f32
                                                                 : ops::Activation::q8_32);
  s.pool_types = std::move(program.pools);
  s.make_pools();
  const auto executable = core::default_backend().compile(program.graph, {program.aliases, false});
  std::map<std::size_t, runtime::Buffer> weights;
  std::size_t next = program.first_weight;
  each_leaf(s.model->weights, [&](const Array& w) {
    weights.emplace(next++, runtime::Buffer(core::node(w.ref()).array()));
  });
  s.step = executable->bind(std::move(weights));
}
Engine::~Engine() = default;

const Model& Engine::model() const { return *state_->model; }
std::int64_t Engine::context() const { return state_->options.context; }
Sequence Engine::sequence() {
  Sequence s;
  s.state_ = std::make_unique<Sequence::State>(state_->pool);
  return s;
}

void Engine::State::check(std::span<const Work> works) const {
  std::int64_t new_pages = 0;
  std::unordered_set<const Sequence*> seen;
  for (const Work& w : works) {
    if (w.sequence == nullptr || !w.sequence->state_ || w.sequence->state_->pool != pool ||
        !seen.insert(w.sequence).second || w.tokens.empty() || w.wanted < 0 ||
        w.wanted > static_cast<std::int64_t>(w.tokens.size())) {
      throw InternalError(
          "llm::Engine: work without tokens or with fewer than wanted, or for a sequence of "
          "another "
          "engine or of other work");
    }
    const auto added = static_cast<std::int64_t>(w.tokens.size());
    const std::int64_t size = w.sequence->size();
    if (added > options.context - size) {
      throw UserError({"TL-LLM-004",
                       "llm::Engine",
                       std::to_string(size + added) + " tokens are more than the context of " +
                           std::to_string(options.context) +
                           (size > 0 ? " (" + std::to_string(size) + " are there already)" : ""),
                       "give less text, or a larger context where the model allows one",
                       {}});
    }
    for (const TokenId id : w.tokens) {
      if (static_cast<std::int64_t>(id) < 0 ||
          static_cast<std::int64_t>(id) >= model->spec().vocabulary) {
        throw UserError({"TL-LLM-006",
                         "llm::Engine",
                         "token " + std::to_string(id) + " is none of the model's " +
                             std::to_string(model->spec().vocabulary),
                         "use the tokenizer that belongs to the model",
                         {}});
      }
    }
    new_pages += pages_for(size + added, options.page) -
                 static_cast<std::int64_t>(w.sequence->state_->pages.size());
  }
  if (new_pages > pool->available()) {
    throw UserError({"TL-LLM-005",
                     "llm::Engine",
                     std::to_string(new_pages) + " pages of " + std::to_string(options.page) +
                         " tokens are needed, " + std::to_string(pool->available()) + " of " +
                         std::to_string(pool->most) + " are free",
                     "end a sequence, or make the engine with more tokens",
                     {}});
  }
}

void Engine::State::make_pools() {
  pools.clear();
  for (const PoolType& type : pool_types) {
    pools.emplace_back(HostArray(type.dtype, type.extents(0)));
  }
  pool_pages = 0;
}

void Engine::State::grow() {
  if (pool->count <= pool_pages) return;
  const std::int64_t pages = std::min(pool->most, std::max(pool->count, 2 * pool_pages));
  // All before any is replaced: it may fail. Memory that is not written yet is not there yet.
  std::vector<HostArray> larger;
  for (const PoolType& t : pool_types) {
    larger.push_back(HostArray::uninitialized(t.dtype, t.extents(pages)));
  }
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const HostArray old = pools[i].to_host();
    if (old.bytes() > 0) std::memcpy(larger[i].mutable_data(), old.data(), old.bytes());
    pools[i] = core::default_backend().upload(std::move(larger[i]));
  }
  pool_pages = pages;
}

HostArray Engine::State::run_step(std::span<const Work> works, std::span<const std::int64_t> begins,
                                  std::span<const std::int64_t> counts) {
  StepInputs in;
  std::size_t width = 1;
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (counts[i] == 0) continue;
    Sequence::State& s = *works[i].sequence->state_;
    s.resize(s.size + counts[i]);
    width = std::max(width, s.pages.size());
  }
  std::int32_t sequence = 0;
  for (std::size_t i = 0; i < works.size(); ++i) {
    if (counts[i] == 0) continue;
    const Sequence::State& s = *works[i].sequence->state_;
    const auto all = static_cast<std::int64_t>(works[i].tokens.size());
    for (std::int64_t k = 0; k < counts[i]; ++k) {
      const std::int64_t at = begins[i] + k, position = s.size - counts[i] + k;
      if (at >= all - works[i].wanted) {
        in.rows.push_back(static_cast<std::int32_t>(in.tokens.size()));
      }
      in.tokens.push_back(static_cast<std::int32_t>(works[i].tokens[static_cast<std::size_t>(at)]));
      in.positions.push_back(static_cast<std::int32_t>(position));
      in.sequences.push_back(sequence);
      in.slots.push_back(static_cast<std::int32_t>(
          s.pages[static_cast<std::size_t>(position / pool->page)] * pool->page +
          position % pool->page));
    }
    in.tables.insert(in.tables.end(), s.pages.begin(), s.pages.end());
    in.tables.resize(in.tables.size() + width - s.pages.size(), 0);
    ++sequence;
  }
  grow();
  return llm::run_step(*step, in, static_cast<std::int64_t>(width), pools);
}

HostArray Engine::run(std::span<const Work> works,
                      const std::optional<runtime::CancelToken>& cancel) {
  State& s = *state_;
  s.check(works);
  std::vector<std::int64_t> before, begins(works.size()), counts(works.size()), rows(works.size());
  std::int64_t tokens = 0, wanted = 0;
  for (std::size_t i = 0; i < works.size(); ++i) {
    before.push_back(works[i].sequence->size());
    tokens += static_cast<std::int64_t>(works[i].tokens.size());
    rows[i] = wanted;
    wanted += works[i].wanted;
  }
  const auto vocabulary = static_cast<std::size_t>(s.model->spec().vocabulary);
  // Of several steps; those of one are what it gives.
  const bool in_one_step = tokens > 0 && tokens <= s.options.chunk;
  HostArray logits = HostArray::uninitialized(
      DType::f32, {in_one_step ? 0 : wanted, static_cast<std::int64_t>(vocabulary)});
  float* out = logits.as_mutable<float>().data();
  try {
    for (;;) {
      std::int64_t room = s.options.chunk;
      for (std::size_t i = 0; i < works.size(); ++i) {
        const auto left = static_cast<std::int64_t>(works[i].tokens.size()) - begins[i];
        counts[i] = std::min(left, room);
        room -= counts[i];
      }
      if (room == s.options.chunk) return logits;
      // Between steps only: what a run leaves behind when it is cut short would cost the pool.
      if (cancel && cancel->cancelled()) {
        throw UserError({"TL-CANCEL-001", "llm::Engine", "cancelled", "", {}});
      }
      HostArray got = s.run_step(works, begins, counts);
      if (in_one_step) return got;
      const float* from = got.as<float>().data();
      for (std::size_t i = 0; i < works.size(); ++i) {
        begins[i] += counts[i];
        const auto all = static_cast<std::int64_t>(works[i].tokens.size());
        const std::int64_t given =
            std::min(counts[i], std::max<std::int64_t>(begins[i] - (all - works[i].wanted), 0));
        const std::size_t floats = static_cast<std::size_t>(given) * vocabulary;
        std::copy_n(from, floats, out + static_cast<std::size_t>(rows[i]) * vocabulary);
        from += floats;
        rows[i] += given;
      }
    }
  } catch (...) {
    if (s.pools.empty() || s.pools[0]) {
      for (std::size_t i = 0; i < works.size(); ++i) works[i].sequence->truncate(before[i]);
      s.pool->cut(s.pool_pages);
    } else {
      // The step had begun, and what it updates in place is gone with it.
      s.pool->lose_all();
      s.make_pools();
    }
    throw;
  }
}

}  // namespace tlaloc::llm
