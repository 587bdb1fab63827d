#include "tlaloc/llm/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>

#include "tlaloc/base/error.h"
#include "tlaloc/io/dequantize.h"
#include "tlaloc/lang/core_quantized.h"
#include "tlaloc/lang/derivatives.h"
#include "tlaloc/lang/layout.h"
#include "tlaloc/lang/operators.h"
#include "tlaloc/lang/reduce.h"
#include "tlaloc/lang/threads.h"
#include "tlaloc/llm/testing.h"
#include "tlaloc/ops/quant_testing.h"

namespace tlaloc::llm {
namespace {

using ::testing::HasSubstr;
using text::TokenId;

std::vector<TokenId> some_ids(std::size_t count, std::uint32_t seed = 7) {
  std::vector<TokenId> ids(count);
  for (TokenId& id : ids)
    id = static_cast<TokenId>((seed = seed * 1103515245u + 12345u) >> 16) % 50;
  return ids;
}

std::vector<float> row(const HostArray& logits, std::int64_t r) {
  const auto n = static_cast<std::size_t>(logits.extents()[1]);
  const auto all = logits.as<float>().subspan(static_cast<std::size_t>(r) * n, n);
  return {all.begin(), all.end()};
}

/// The logits behind each of the ids, from the dense program.
std::vector<std::vector<float>> dense(const Model& m, const std::vector<TokenId>& ids) {
  std::vector<std::int32_t> list(ids.begin(), ids.end());
  const auto n = static_cast<std::int64_t>(ids.size());
  const Array out = logits(m.spec(), m.weights, Array::from<std::int32_t>(list, {1, n}));
  const HostArray flat = core::node(out.ref()).array().reshaped({n, m.spec().vocabulary});
  std::vector<std::vector<float>> rows;
  for (std::int64_t i = 0; i < n; ++i) rows.push_back(row(flat, i));
  return rows;
}

float distance(const std::vector<float>& a, const std::vector<float>& b) {
  float most = a.size() == b.size() ? 0 : HUGE_VALF;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

std::vector<float> run_all(Engine& e, Sequence& s, std::span<const TokenId> ids) {
  const Engine::Work work{&s, ids};
  return row(e.run({&work, 1}), 0);
}

std::string code_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const UserError& e) {
    return e.what();
  }
  return "no error";
}

/// A window, caps, a norm of its own for heads that have one, scales: everything but weights.
DecoderSpec rich_spec() {
  DecoderSpec spec = tiny_spec();
  spec.layers[1].attention.window = 5;
  spec.layers[1].attention.soft_cap = 3;
  spec.layers[2].attention.rope.reset();
  spec.layers[2].attention.head_norm = HeadNorm::weightless;
  spec.layers[2].mlp.activation = MlpActivation::gelu_tanh;
  spec.layers[0].residual_factor = 0.7;
  spec.layers[0].attention.query_factor = 1.5;
  spec.ropes[0].frequencies.pop_back();
  spec.embedding_factor = 2;
  spec.embedding_norm = 1e-5;
  spec.logit_factor = 0.5;
  spec.logit_cap = 4;
  return spec;
}

TEST(Engine, GivesWhatTheDenseProgramGives) {
  for (const DecoderSpec& spec : {tiny_spec(), rich_spec()}) {
    const auto model = tiny_model(spec);
    const auto ids = some_ids(23);
    const auto want = dense(*model, ids);
    Engine engine(model, {.page = 4});
    Sequence all = engine.sequence();
    EXPECT_LT(distance(run_all(engine, all, ids), want.back()), 2e-5f);
    Sequence one_by_one = engine.sequence();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      EXPECT_LT(distance(run_all(engine, one_by_one, {&ids[i], 1}), want[i]), 2e-5f) << i;
    }
    // Each setting counts: without the window the last logits are others.
    DecoderSpec changed = spec;
    changed.layers[1].attention.window = spec.layers[1].attention.window == 0 ? 5 : 0;
    auto other = tiny_model(changed);
    EXPECT_GT(distance(dense(*other, ids).back(), want.back()), 1e-3f);
  }
}

/// The matrices of a model, stored as a file of that kind would have them.
std::shared_ptr<Model> stored(const Model& model, io::Storage storage) {
  auto result = std::make_shared<Model>();
  result->checkpoint.decoder.spec = model.spec();
  result->weights = map_leaves<Array>(model.weights, [&](const Array& w) {
    const HostArray& array = core::node(w.ref()).array();
    if (array.rank() != 2 || storage == io::Storage::f32) return w;
    std::vector<std::byte> bytes(
        static_cast<std::size_t>(*io::storage_bytes(storage, array.extents())));
    io::quantize(storage, array.as<float>(), bytes, "w");
    if (const auto dtype = io::dtype_of_storage(storage)) {
      HostArray rounded = HostArray::uninitialized(*dtype, array.extents());
      std::memcpy(rounded.mutable_data(), bytes.data(), bytes.size());
      return Array(core::make_concrete(std::move(rounded)));
    }
    const core::AxisSpec axes[2]{};
    const auto format = storage == io::Storage::q8_0 ? QuantFormat::q8_0 : QuantFormat::q4_0;
    return Array(
        core::quantized(format, axes, array.extents(),
                        {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                        nullptr, Where::current()));
  });
  return result;
}

/// Matrices of any blocks of that format, as they are or as the numbers that they stand for.
std::shared_ptr<Model> in_blocks(const Model& model, QuantFormat format, bool decoded) {
  const char* const name = ops::testing::kEncodings[static_cast<std::size_t>(format)];
  const ir::Encoding& e = *ir::find_encoding(name);
  std::uint32_t seed = 3;
  auto result = std::make_shared<Model>();
  result->checkpoint.decoder.spec = model.spec();
  result->weights = map_leaves<Array>(model.weights, [&](const Array& w) {
    const HostArray& array = core::node(w.ref()).array();
    if (array.rank() != 2 || array.extents()[1] % e.block_elements != 0) return w;
    std::vector<std::uint8_t> bytes(
        static_cast<std::size_t>(array.size() / e.block_elements * e.block_bytes));
    for (std::uint8_t& b : bytes) {
      b = static_cast<std::uint8_t>((seed = seed * 1103515245u + 12345u) >> 16);
    }
    for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(e.block_bytes)) {
      ops::testing::set_scales(e, &bytes[at], 1e-4f, 1e-4f);
    }
    const core::AxisSpec axes[2]{};
    const core::Ref blocks =
        core::quantized(format, axes, array.extents(), bytes, nullptr, Where::current());
    return Array(decoded ? core::dequantize(blocks, axes, Where::current()) : blocks);
  });
  return result;
}

TEST(Engine, BlocksAreTheNumbersThatTheyStandFor) {
  DecoderSpec spec = tiny_spec();
  spec.width = 256;
  const auto model = tiny_model(spec);
  const auto ids = some_ids(20);
  for (std::size_t f = 0; f < static_cast<std::size_t>(QuantFormat::count); ++f) {
    SCOPED_TRACE(ops::testing::kEncodings[f]);
    std::vector<std::vector<float>> logits;
    for (const bool decoded : {false, true}) {
      Engine engine(in_blocks(*model, static_cast<QuantFormat>(f), decoded), {.page = 4});
      Sequence s = engine.sequence();
      logits.push_back(run_all(engine, s, ids));
      logits.push_back(run_all(engine, s, std::span(ids).first(1)));
    }
    EXPECT_EQ(logits[0], logits[2]);
    EXPECT_EQ(logits[1], logits[3]);
    EXPECT_NE(logits[0], logits[1]);
  }
}

TEST(Engine, PiecesAndCompanyDoNotChangeABit) {
  DecoderSpec spec = rich_spec();
  spec.width = spec.layers[0].mlp.width = spec.layers[1].mlp.width = spec.layers[2].mlp.width = 64;
  const auto f32 = tiny_model(spec);
  const auto ids = some_ids(40), others = some_ids(33, 99);
  for (const io::Storage storage : {io::Storage::f32, io::Storage::bf16, io::Storage::f16,
                                    io::Storage::q8_0, io::Storage::q4_0}) {
    SCOPED_TRACE(io::name(storage));
    const auto model = stored(*f32, storage);
    Engine engine(model, {.page = 4, .tokens = 512});
    Sequence whole = engine.sequence();
    const std::vector<float> want = run_all(engine, whole, ids);
    for (const std::size_t piece : {1, 3, 7, 16}) {
      Sequence s = engine.sequence();
      std::vector<float> got;
      for (std::size_t i = 0; i < ids.size(); i += piece) {
        got = run_all(engine, s, std::span(ids).subspan(i, std::min(piece, ids.size() - i)));
      }
      EXPECT_EQ(got, want) << piece;
    }
    Engine narrow(model, {.page = 7, .chunk = 9});
    Sequence s = narrow.sequence();
    EXPECT_EQ(run_all(narrow, s, ids), want);

    Sequence a = engine.sequence(), b = engine.sequence(), c = engine.sequence();
    run_all(engine, a, std::span(ids).first(38));
    run_all(engine, b, std::span(others).first(5));
    const Engine::Work works[] = {
        {&b, std::span(others).subspan(5)}, {&a, std::span(ids).subspan(38)}, {&c, std::span(ids)}};
    const HostArray together = engine.run(works);
    EXPECT_EQ(row(together, 1), want);
    EXPECT_EQ(row(together, 2), want);
    Sequence d = engine.sequence();
    EXPECT_EQ(row(together, 0), run_all(engine, d, others));
  }
}

TEST(Engine, GivesTheLogitsOfAsManyTokensAsAreWanted) {
  const auto model = tiny_model(tiny_spec());
  const auto ids = some_ids(20);
  Engine engine(model, {.page = 4, .tokens = 256, .chunk = 6});
  std::vector<std::vector<float>> want;
  Sequence one_by_one = engine.sequence();
  for (const TokenId& id : ids) want.push_back(run_all(engine, one_by_one, {&id, 1}));
  Sequence a = engine.sequence(), b = engine.sequence(), c = engine.sequence();
  const Engine::Work works[] = {{&a, ids, 20}, {&b, std::span(ids).first(5), 0}, {&c, ids, 3}};
  const HostArray got = engine.run(works);
  ASSERT_EQ(got.extents(), (Extents{23, 50}));
  for (std::int64_t i = 0; i < 23; ++i) {
    EXPECT_EQ(row(got, i), want[static_cast<std::size_t>(i < 20 ? i : i - 3)]) << i;
  }
}

TEST(Engine, ForgetsTokensAndReusesTheirPages) {
  const auto model = tiny_model(tiny_spec());
  const auto ids = some_ids(20);
  Engine engine(model, {.page = 4, .tokens = 24});
  Sequence s = engine.sequence();
  const auto want = run_all(engine, s, ids);
  s.truncate(9);
  EXPECT_EQ(s.size(), 9);
  EXPECT_EQ(run_all(engine, s, std::span(ids).subspan(9)), want);
  EXPECT_THAT(
      code_of([&] {
        Sequence more = engine.sequence();
        run_all(engine, more, std::span(ids).first(5));
      }),
      HasSubstr("TL-LLM-005: llm::Engine: 2 pages of 4 tokens are needed, 1 of 6 are free"));
  s = Sequence();
  Sequence more = engine.sequence();
  EXPECT_EQ(run_all(engine, more, ids), want);
}

TEST(Engine, RefusesByNameAndStaysUsable) {
  const auto model = tiny_model(tiny_spec());
  const auto ids = some_ids(60);
  Engine engine(model, {.tokens = 128});
  Sequence s = engine.sequence();
  run_all(engine, s, ids);
  EXPECT_THAT(
      code_of([&] { run_all(engine, s, std::span(ids).first(5)); }),
      HasSubstr("TL-LLM-004: llm::Engine: 65 tokens are more than the context of 64 (60 are "
                "there already)"));
  const TokenId unknown[] = {3, 50};
  EXPECT_THAT(code_of([&] { run_all(engine, s, unknown); }),
              HasSubstr("TL-LLM-006: llm::Engine: token 50 is none of the model's 50"));
  const runtime::CancelToken cancel;
  cancel.cancel();
  const Engine::Work work{&s, std::span(ids).first(2)};
  EXPECT_THAT(code_of([&] { engine.run({&work, 1}, cancel); }), HasSubstr("TL-CANCEL-001"));
  EXPECT_EQ(s.size(), 60);
  s.truncate(59);
  Sequence fresh = engine.sequence();
  const auto want = run_all(engine, fresh, ids);
  EXPECT_EQ(run_all(engine, s, std::span(ids).subspan(59)), want);
}

TEST(Engine, RefusesASequenceThatIsInTwoWorks) {
  Engine engine(tiny_model(tiny_spec()));
  const auto ids = some_ids(20);
  Sequence s = engine.sequence();
  const Engine::Work works[] = {{&s, std::span(ids).first(10)}, {&s, std::span(ids).subspan(10)}};
  EXPECT_THROW(engine.run(works), InternalError);
  EXPECT_EQ(s.size(), 0);
}

TEST(Engine, HasNoLargerContextThanTheModel) {
  const auto model = tiny_model(tiny_spec());
  EXPECT_THAT(code_of([&] { Engine engine(model, {.context = 65}); }),
              HasSubstr("TL-LLM-004: llm::Engine: a context of 65 is more than the model's 64"));
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(code_of([&] { Engine engine(model, {.tokens = kMost}); }), HasSubstr("TL-LLM-005"));
  EXPECT_THAT(code_of([&] { Engine engine(model, {.page = kMost}); }), HasSubstr("TL-LLM-005"));
}

// A limit of addresses and sanitizers do not go together.
#ifndef TLALOC_SANITIZED
/// Memory for the steps of the process, and no more than some for what comes.
void limit_memory() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + (8 << 20);
  const rlimit limit{bytes, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &limit);
}

void lose_a_step() {
  DecoderSpec spec = tiny_spec();
  spec.context = 1 << 20;
  for (LayerSpec& l : spec.layers) l.attention.window = 4;
  set_num_threads(1);
  Engine engine(tiny_model(spec), {.chunk = 1 << 20});
  const auto ids = some_ids(60'000);
  Sequence kept = engine.sequence(), large = engine.sequence();
  const auto want = run_all(engine, kept, std::span(ids).first(20));
  for (std::size_t at = 0; at < ids.size(); at += 1000) {
    run_all(engine, large, std::span(ids).subspan(at, 1000));
  }
  large.truncate(0);
  limit_memory();
  std::string failed = "nothing";
  try {
    run_all(engine, large, ids);
  } catch (const Error& e) {
    failed = e.what();
  }
  const rlimit none{RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &none);
  const bool lost =
      failed.find("TL-MEM-001") != failed.npos && kept.size() == 0 && large.size() == 0;
  const bool goes_on = run_all(engine, kept, std::span(ids).first(20)) == want;
  std::fprintf(stderr, "lost %d, goes on %d: %s", lost, goes_on, failed.c_str());
  std::exit(lost && goes_on ? 0 : 1);
}

TEST(EngineDeathTest, GoesOnAfterAStepWithoutMemory) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(lose_a_step(), ::testing::ExitedWithCode(0), "lost 1, goes on 1");
}
#endif

TEST(Decoder, IsAFunctionThatGradTakes) {
  const DecoderSpec spec = tiny_spec({.vocabulary = 11,
                                      .width = 8,
                                      .inner = 6,
                                      .heads = 2,
                                      .kv_heads = 1,
                                      .head_width = 4,
                                      .layers = 2});
  const auto model = tiny_model(spec);
  const std::vector<std::int32_t> list{1, 5, 2, 7, 7, 0};
  const Array ids = Array::from<std::int32_t>(list, {2, 3});
  const auto wide =
      map_leaves<Array>(model->weights, [](const Array& w) { return cast<double>(w); });
  const auto loss = [&](const Weights& w) {
    const Array y = logits(spec, w, ids);
    return as<Scalar<double>>(sum(y * y));
  };
  check_grads(loss)(wide);
}

}  // namespace
}  // namespace tlaloc::llm
