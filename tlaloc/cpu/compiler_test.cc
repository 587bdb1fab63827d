#include "tlaloc/cpu/compiler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tlaloc/base/checked.h"
#include "tlaloc/base/error.h"
#include "tlaloc/cpu/testing.h"

namespace tlaloc::cpu {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

class CompileIr : public testing::CodegenTest {
 protected:
  std::shared_ptr<const LoadedImage> compile(std::string_view ir,
                                             const CompileOptions& options = {}) {
    return compiler_.compile(ir, options);
  }

 private:
  Compiler compiler_{{}};
};

/// y[i] = x[i] * (i mod 8 + 1), by eights: reads a constant from memory.
constexpr std::string_view kVector = R"(
define void @scale(ptr %y, ptr %x, i64 %n) {
entry:
  br label %head
head:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %done
body:
  %px = getelementptr float, ptr %x, i64 %i
  %py = getelementptr float, ptr %y, i64 %i
  %a = load <8 x float>, ptr %px, align 4
  %b = fmul <8 x float> %a, <float 1.0, float 2.0, float 3.0, float 4.0, float 5.0, float 6.0, float 7.0, float 8.0>
  store <8 x float> %b, ptr %py, align 4
  %next = add i64 %i, 8
  br label %head
done:
  ret void
}
)";

TEST_F(CompileIr, VectorKernel) {
  const auto image = compile(kVector);
  std::vector<float> x(64), y(64);
  std::iota(x.begin(), x.end(), 1.0F);
  image->function<void(float*, const float*, std::int64_t)>("scale")(y.data(), x.data(), 64);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(y[i], x[i] * static_cast<float>(i % 8 + 1)) << i;
  EXPECT_THAT(testing::mapping_of(image->address("scale")), HasSubstr(" r-xp "));
}

/// The sum of the squares below n, and its use by a second function; variables in memory.
constexpr std::string_view kScalar = R"(
define i64 @squares(i64 %n) {
entry:
  %i = alloca i64
  %sum = alloca i64
  store i64 0, ptr %i
  store i64 0, ptr %sum
  br label %head
head:
  %i0 = load i64, ptr %i
  %more = icmp slt i64 %i0, %n
  br i1 %more, label %body, label %done
body:
  %square = mul i64 %i0, %i0
  %s0 = load i64, ptr %sum
  %s1 = add i64 %s0, %square
  store i64 %s1, ptr %sum
  %i1 = add i64 %i0, 1
  store i64 %i1, ptr %i
  br label %head
done:
  %s = load i64, ptr %sum
  ret i64 %s
}
define i64 @difference(i64 %n) noinline {
  %a = call i64 @squares(i64 %n)
  %m = sub i64 %n, 1
  %b = call i64 @squares(i64 %m)
  %d = sub i64 %a, %b
  ret i64 %d
}
)";

TEST_F(CompileIr, ScalarLoopsAtEveryEffort) {
  for (const std::string_view passes : {kKernelPasses, kScalarPasses})
    for (const int level : {0, 1, 2, 3}) {
      const auto image = compile(kScalar, {.passes = std::string(passes), .level = level});
      EXPECT_EQ(image->function<std::int64_t(std::int64_t)>("squares")(1000), 332833500);
      EXPECT_EQ(image->function<std::int64_t(std::int64_t)>("difference")(1000), 998001);
    }
}

TEST_F(CompileIr, JumpTableAndTableOfConstants) {
  const auto image = compile(R"(
@table = constant [4 x double] [double 0.5, double 1.5, double 2.5, double 3.5]
define double @choose(i64 %k) {
  switch i64 %k, label %other [ i64 0, label %a
                                i64 1, label %b
                                i64 2, label %c
                                i64 3, label %d
                                i64 4, label %e ]
a:
  ret double 10.0
b:
  ret double -20.0
c:
  %three = load double, ptr getelementptr (double, ptr @table, i64 3)
  ret double %three
d:
  %i = and i64 %k, 1
  %p = getelementptr double, ptr @table, i64 %i
  %v = load double, ptr %p
  %w = fadd double %v, 40.0
  ret double %w
e:
  %f = sitofp i64 %k to double
  ret double %f
other:
  ret double 0.0
}
)",
                             {.passes = ""});
  auto* choose = image->function<double(std::int64_t)>("choose");
  const double expected[] = {10, -20, 3.5, 41.5, 4, 0, 0};
  for (std::int64_t k = 0; k < 7; ++k) EXPECT_EQ(choose(k), expected[k]) << k;
}

TEST_F(CompileIr, CallsOutThroughAPointer) {
  const auto image = compile(R"(
define i64 @apply(ptr %f, i64 %x) {
  %y = call i64 %f(i64 %x)
  %z = add i64 %y, 1
  ret i64 %z
}
)");
  std::int64_t (*square)(std::int64_t) = [](std::int64_t x) { return x * x; };
  EXPECT_EQ(image->function<std::int64_t(decltype(square), std::int64_t)>("apply")(square, 7), 50);
}

TEST_F(CompileIr, NamesTheLineThatLlvmRefuses) {
  EXPECT_THAT([this] { compile("define void @f() {\n  retire\n}\n", {.name = "loss"}); },
              ThrowsMessage<InternalError>(HasSubstr(
                  "TL-INTERNAL-001: LLVM refuses loss: loss:2:3: error: expected instruction")));
}

TEST_F(CompileIr, NamesTheSymbolThatIsMissing) {
  EXPECT_THAT(
      [this] {
        compile(
            "declare float @llvm.exp.f32(float)\n"
            "define float @f(float %x) {\n  %y = call float @llvm.exp.f32(float %x)\n"
            "  ret float %y\n}\n",
            {.name = "loss"});
      },
      ThrowsMessage<InternalError>(
          HasSubstr("the code of loss can't be linked: it needs expf, and calls can leave the code "
                    "only through a pointer that is passed in")));
}

/// A function that returns `number`.
std::string constant(int number) {
  return "define i32 @f() {\n  ret i32 " + std::to_string(number) + "\n}\n";
}
int run(const std::shared_ptr<const LoadedImage>& image) { return image->function<int()>("f")(); }

class CompilerTest : public testing::CodegenTest {
 protected:
  std::string folder(const char* name) const { return (temporary_.path() / name).string(); }
  Settings with_cache() const { return {.cache = {.folder = folder("cache")}}; }

 private:
  testing::TemporaryFolder temporary_;
};

TEST_F(CompilerTest, LooksInMemoryThenOnDisk) {
  Compiler compiler(with_cache());
  auto first = compiler.compile(constant(1), {});
  EXPECT_EQ(compiler.counts(), (CompileCounts{.compiled = 1}));
  EXPECT_EQ(compiler.compile(constant(1), {}), first);
  EXPECT_EQ(compiler.counts(), (CompileCounts{.from_memory = 1, .compiled = 1}));
  first.reset();
  EXPECT_EQ(run(compiler.compile(constant(1), {})), 1);
  EXPECT_EQ(compiler.counts(), (CompileCounts{.from_memory = 1, .from_disk = 1, .compiled = 1}));
  EXPECT_EQ(run(compiler.compile(constant(2), {})), 2);
  EXPECT_EQ(compiler.counts(), (CompileCounts{.from_memory = 1, .from_disk = 1, .compiled = 2}));
}

TEST_F(CompilerTest, WorksWithoutTheDisk) {
  Compiler compiler({});
  EXPECT_EQ(run(compiler.compile(constant(1), {})), 1);
  EXPECT_EQ(run(compiler.compile(constant(1), {})), 1);
  EXPECT_EQ(compiler.counts(), (CompileCounts{.compiled = 2}));
}

TEST_F(CompilerTest, WhatDecidesAboutTheCodeIsPartOfTheKey) {
  const CompileOptions all[] = {{},
                                {.passes = ""},
                                {.level = 0},
                                {.cpu = "x86-64"},
                                {.cpu = "x86-64-v2"},
                                {.cpu = "x86-64", .features = "+avx"}};
  Compiler compiler(with_cache());
  for (const CompileOptions& options : all) compiler.compile(constant(1), options);
  EXPECT_EQ(compiler.counts().compiled, std::int64_t{std::size(all)});
  compiler.compile(constant(1), {.name = "another name"});
  EXPECT_EQ(compiler.counts().from_disk, 1) << "a name is not";
}

TEST_F(CompilerTest, MachinesAndLibrariesShareAFolderButNoCode) {
  Compiler(with_cache()).compile(constant(1), {});
  Compiler another(with_cache(), {1, 2, 3});
  another.compile(constant(1), {});
  EXPECT_EQ(another.counts(), (CompileCounts{.compiled = 1}));
  Settings settings = with_cache();
  settings.codegen_library =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("libtlaloc_codegen.so");
  Compiler named(settings);
  named.compile(constant(1), {});
  EXPECT_EQ(named.counts(), (CompileCounts{.compiled = 1}));
}

TEST_F(CompilerTest, ADamagedCacheIsMadeAnew) {
  Compiler(with_cache()).compile(constant(1), {});
  for (const auto& file : std::filesystem::directory_iterator(folder("cache")))
    std::filesystem::resize_file(file, 50);
  Compiler compiler(with_cache());
  EXPECT_EQ(run(compiler.compile(constant(1), {})), 1);
  EXPECT_EQ(run(compiler.compile(constant(1), {})), 1);
  EXPECT_EQ(compiler.counts(), (CompileCounts{.from_disk = 1, .compiled = 1}));
}

TEST_F(CompilerTest, SaysOnceWhyNothingIsKept) {
  ::testing::internal::CaptureStderr();
  std::filesystem::create_directory(folder("cache"));
  std::filesystem::permissions(folder("cache"), std::filesystem::perms::all);
  Compiler refused(with_cache());
  EXPECT_EQ(run(refused.compile(constant(1), {})), 1);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(StartsWith("tlaloc: TL-CACHE-001: "), EndsWith("TLALOC_CACHE=off\n")));

  std::filesystem::permissions(folder("cache"), std::filesystem::perms::owner_all);
  Compiler broken(with_cache());
  std::filesystem::remove(folder("cache"));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(run(broken.compile(constant(1), {})), 1);
  EXPECT_EQ(run(broken.compile(constant(2), {})), 2);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              MatchesRegex("tlaloc: TL-CACHE-001: [^\n]*can't be written: No such file[^\n]*\n"));
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(CompilerTest, DumpsWhatItCompiles) {
  Compiler(with_cache()).compile(constant(1), {});
  Settings settings = with_cache();
  settings.dump_folder = folder("dump/deep");
  Compiler compiler(settings);
  auto held = compiler.compile(constant(1), {.name = "softmax/forward",
                                             .graph = [] { return std::string("func @softmax"); }});
  EXPECT_EQ(compiler.counts().compiled, 1) << "a dump shows what is on disk too";
  std::map<std::string, std::string> texts;
  for (const auto& file : std::filesystem::directory_iterator(folder("dump/deep"))) {
    const std::string name = file.path().filename().string();
    EXPECT_THAT(name, MatchesRegex("softmax_forward-[0-9a-f]{8}(.graph|(|-optimized).(ll|s))"));
    texts[name.substr(std::string("softmax_forward-01234567").size())] = text_of(file.path());
  }
  EXPECT_THAT(texts, UnorderedElementsAre(Pair(".graph", "func @softmax"), Pair(".ll", constant(1)),
                                          Pair("-optimized.ll", HasSubstr("define hidden i32 @f")),
                                          Pair(".s", HasSubstr("movl\t$1, %eax"))));
}

TEST_F(CompilerTest, ADumpThatCantBeWrittenIsAnError) {
  std::ofstream(folder("file")) << "in the way";
  Compiler compiler({.dump_folder = folder("file")});
  EXPECT_THAT([&] { compiler.compile(constant(1), {}); },
              ThrowsMessage<EnvironmentError>(
                  AllOf(HasSubstr("TL-DUMP-001: dump: "), HasSubstr("can't be written: "),
                        HasSubstr("name another folder with TLALOC_DUMP, or unset it"))));
}

/// Calls work(i) for i below `count`, each in a thread of its own.
void in_threads(int count, const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(CompilerTest, ThreadsCompileEqualTextsOnce) {
  constexpr int kThreads = 8, kTexts = 6;
  Compiler compiler(with_cache());
  std::vector<std::vector<std::shared_ptr<const LoadedImage>>> images(kThreads);
  in_threads(kThreads, [&](int thread) {
    for (int i = 0; i < kTexts; ++i) {
      const int number = (i + thread / 2) % kTexts;  // two threads each start with the same
      images[usize(thread)].push_back(compiler.compile(constant(number), {}));
      EXPECT_EQ(run(images[usize(thread)].back()), number);
    }
  });
  EXPECT_EQ(compiler.counts(),
            (CompileCounts{.from_memory = (kThreads - 1) * kTexts, .compiled = kTexts}));
}

TEST_F(CompilerTest, EachThreadGetsItsError) {
  Compiler compiler({});
  std::atomic<int> errors = 0;
  in_threads(8, [&](int) {
    try {
      compiler.compile("nonsense", {});
    } catch (InternalError& e) {
      e.add_place({"user.cc", 1});  // as callers do
      ++errors;
    }
  });
  EXPECT_EQ(errors, 8);
  EXPECT_EQ(run(compiler.compile(constant(1), {})), 1);
}

/// Ends the process, telling where its code came from.
[[noreturn]] void compile_and_exit() {
  const bool before = testing::is_loaded("libLLVM");
  const bool right = run(compile_ir(constant(42))) == 42;
  const CompileCounts counts = compile_counts();
  std::fprintf(stderr, "compiled %d, from disk %d, LLVM %d %d\n", static_cast<int>(counts.compiled),
               static_cast<int>(counts.from_disk), before, testing::is_loaded("libLLVM"));
  _exit(right ? 0 : 1);
}

TEST_F(CompileIr, WarmProcessesDoWithoutLlvm) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // starts the program anew
  const bool parent = !::testing::internal::InDeathTestChild();
  std::optional<testing::TemporaryFolder> folder;
  testing::Variables variables;
  if (parent) {
    folder.emplace();
    variables.set("TLALOC_CACHE_DIR", folder->path() / "cache");
    variables.set("TLALOC_CACHE", std::nullopt);
  }
  const auto succeeds = ::testing::ExitedWithCode(0);
  EXPECT_EXIT(compile_and_exit(), succeeds, "compiled 1, from disk 0, LLVM 0 1");
  EXPECT_EXIT(compile_and_exit(), succeeds, "compiled 0, from disk 1, LLVM 0 0");
  if (parent) variables.set("TLALOC_CACHE", "off");
  EXPECT_EXIT(compile_and_exit(), succeeds, "compiled 1, from disk 0, LLVM 0 1");
}

}  // namespace
}  // namespace tlaloc::cpu
