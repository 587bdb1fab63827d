#include "tlaloc/lang/leaves.h"

#include <array>
#include <memory>
#include <utility>

#include "tlaloc/base/error.h"

namespace tlaloc::core {
namespace {

/// Data that this thread is done with. A call of a compiled function flattens its arguments and its
/// results, so their lists keep their memory.
class Spares {
 public:
  /// Null while the thread ends: static objects hold leaves too.
  static Spares* mine() {
    static thread_local bool ended = false;
    if (ended) return nullptr;
    static thread_local struct Owner {
      Spares spares;
      ~Owner() { ended = true; }
    } owner;
    return &owner.spares;
  }
  std::unique_ptr<Leaves::Data> take() {
    return count_ > 0 ? std::move(spares_[--count_]) : std::make_unique<Leaves::Data>();
  }
  void give(std::unique_ptr<Leaves::Data> d) {
    if (count_ == spares_.size() || d->values.capacity() > kLargest) return;
    d->clear();
    if (count_ < spares_.size()) spares_[count_++] = std::move(d);
  }

 private:
  static constexpr std::size_t kLargest = 256;
  std::array<std::unique_ptr<Leaves::Data>, 4> spares_;
  std::size_t count_ = 0;
};

Leaves::Data* take_data() {
  Spares* s = Spares::mine();
  return s ? s->take().release() : new Leaves::Data;
}
void release(Leaves::Data* d) {
  if (d->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  std::unique_ptr<Leaves::Data> last(d);
  if (Spares* s = Spares::mine()) s->give(std::move(last));
}

}  // namespace

void Leaves::Data::clear() {
  refs.store(1, std::memory_order_relaxed);
  values.clear();
  info.clear();
  argument_begin.clear();
  notes.clear();
  payload.reset();
  used_up = 0;
  steps.clear();
  at = -1;
}
void Leaves::Data::take_structure(const Data& o) {
  info = o.info;
  argument_begin = o.argument_begin;
  notes = o.notes;
  payload = o.payload;
  steps = o.steps;
  at = o.at;
}

Leaves::Leaves() : data_(take_data()) {}
Leaves::Leaves(const Leaves& other) : data_(other.data_) {
  data_->refs.fetch_add(1, std::memory_order_relaxed);
}
Leaves::Leaves(Leaves&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
Leaves& Leaves::operator=(Leaves other) noexcept {
  std::swap(data_, other.data_);
  return *this;
}
Leaves::~Leaves() {
  if (data_) release(data_);
}

Leaves::Data& Leaves::mutable_data() {
  if (data_->refs.load(std::memory_order_acquire) != 1) {
    Leaves copy;
    copy.data_->values = data_->values;
    copy.data_->take_structure(*data_);
    *this = std::move(copy);
  }
  return *data_;
}

void Leaves::argument(const char* name) {
  Data& d = mutable_data();
  d.steps.push_back({-1, name, static_cast<std::int64_t>(d.argument_begin.size())});
  d.at = static_cast<int>(d.steps.size()) - 1;
  d.argument_begin.push_back(static_cast<int>(d.values.size()));
}
void Leaves::use_up() {
  Data& d = mutable_data();
  const std::size_t argument = d.argument_begin.size() - 1;
  if (argument < 64) d.used_up |= std::uint64_t{1} << argument;
}
void Leaves::enter(const char* field) {
  Data& d = mutable_data();
  d.steps.push_back({d.at, field, 0});
  d.at = static_cast<int>(d.steps.size()) - 1;
}
void Leaves::enter(std::int64_t index) {
  Data& d = mutable_data();
  d.steps.push_back({d.at, nullptr, index});
  d.at = static_cast<int>(d.steps.size()) - 1;
}
void Leaves::leave() {
  Data& d = mutable_data();
  internal_check(d.at >= 0, "leaves: more steps out than in");
  d.at = d.steps[static_cast<std::size_t>(d.at)].parent;
}
void Leaves::add(const Ref& value, DType dtype, AxesSpec axes) {
  Data& d = mutable_data();
  d.values.push_back(value);
  d.info.push_back({true, dtype, axes, d.at});
}
void Leaves::add(const Ref& value) {
  Data& d = mutable_data();
  d.values.push_back(value);
  d.info.push_back({false, DType::f32, {}, d.at});
}
void Leaves::note(std::int64_t structure) { mutable_data().notes.push_back(structure); }

int Leaves::size() const { return static_cast<int>(data_->values.size()); }
const Ref& Leaves::operator[](int i) const {
  internal_check(i >= 0 && i < size(), "leaves: index out of range");
  return data_->values[static_cast<std::size_t>(i)];
}
int Leaves::argument_begin(int k) const {
  const auto& begin = data_->argument_begin;
  const auto at = static_cast<std::size_t>(k);
  return at < begin.size() ? begin[at] : size();
}
int Leaves::argument_end(int k) const { return argument_begin(k + 1); }

void Leaves::keep(void* payload, void (*destroy)(void*)) {
  mutable_data().payload = std::shared_ptr<void>(payload, destroy);
}
void* Leaves::kept() const { return data_->payload.get(); }

std::string Leaves::Data::path_text(std::size_t leaf) const {
  std::string text;
  for (int s = info[leaf].step; s >= 0;) {
    const Step& step = steps[static_cast<std::size_t>(s)];
    if (step.parent < 0 && !argument_begin.empty()) break;
    text = step.field ? (text.empty() || text[0] == '[' ? step.field + text
                                                        : std::string(step.field) + "." + text)
                      : "[" + std::to_string(step.index) + "]" +
                            (text.empty() || text[0] == '[' ? text : "." + text);
    s = step.parent;
  }
  return text;
}

std::string Leaves::Data::path(std::size_t leaf) const {
  const std::string text = path_text(leaf);
  if (argument_begin.empty()) return text.empty() ? "result" : "result " + text;
  int s = info[leaf].step;
  while (s >= 0 && steps[static_cast<std::size_t>(s)].parent >= 0) {
    s = steps[static_cast<std::size_t>(s)].parent;
  }
  const Step* argument = s < 0 ? nullptr : &steps[static_cast<std::size_t>(s)];
  std::string name = !argument         ? "argument"
                     : argument->field ? argument->field
                                       : "argument " + std::to_string(argument->index);
  return text.empty() ? name : name + ": " + text;
}

Leaves with_values(const Leaves& like, std::vector<Ref> values) {
  internal_check(values.size() == like.data().values.size(), "leaves: another number of values");
  Leaves out;
  Leaves::Data& d = out.mutable_data();
  d.values = std::move(values);
  d.take_structure(like.data());
  return out;
}

Leaves joined(const Leaves& first, std::span<const Ref> more) {
  Leaves out = first;
  for (const Ref& r : more) out.add(r);
  return out;
}

void require_values(const Leaves& leaves, const char* what) {
  const Leaves::Data& d = leaves.data();
  for (std::size_t i = 0; i < d.values.size(); ++i) {
    if (d.values[i]) continue;
    throw UserError({"TL-VALUE-001",
                     what,
                     d.path(i) + " is a tensor without a value",
                     "give it a value first; a default-constructed tensor has none",
                     {}});
  }
}

}  // namespace tlaloc::core
