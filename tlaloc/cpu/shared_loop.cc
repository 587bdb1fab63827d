#include "tlaloc/cpu/shared_loop.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "tlaloc/base/checked.h"
#include "tlaloc/cpu/scratch.h"

namespace tlaloc::cpu {
namespace {

using Args = std::array<std::uint64_t, kMaxLoopArgs>;
using Call = void (*)(const void* code, std::int64_t count, const Args& args);

template <std::size_t... I>
void call(const void* code, std::int64_t count, const Args& args, std::index_sequence<I...>) {
  using Code = void (*)(std::int64_t, decltype(I, std::uint64_t())...);
  reinterpret_cast<Code>(const_cast<void*>(code))(count, args[I]...);
}
template <std::size_t kCount>
void call_with(const void* code, std::int64_t count, const Args& args) {
  call(code, count, args, std::make_index_sequence<kCount>());
}

/// By number of arguments.
constexpr auto kCalls = []<std::size_t... I>(std::index_sequence<I...>) {
  return std::array<Call, sizeof...(I)>{call_with<I>...};
}(std::make_index_sequence<kMaxLoopArgs + 1>());

}  // namespace

void LoopCode::run(std::int64_t begin, std::int64_t end) const {
  Args from;
  std::ranges::copy(args, from.begin());
  for (std::size_t k = 0; k < steps.size(); ++k)
    from[k] += static_cast<std::uint64_t>(begin) * steps[k];
  kCalls[args.size()](code, end - begin, from);
}

void run_shared(const LoopCode& loop, const Ranges& ranges) {
  parallel(ranges, [&](std::int64_t begin, std::int64_t end) { loop.run(begin, end); });
}

void fold_shared(const LoopCode& loop, const Ranges& ranges, const Fold& fold, std::int64_t kept,
                 std::size_t output) {
  if (ranges.count() == 1) return loop.run(0, ranges.extent);
  const std::size_t bytes = usize(kept * byte_size(fold.accumulator));
  const Scratch results(usize(ranges.count()) * bytes);
  parallel(ranges, [&](std::int64_t begin, std::int64_t end) {
    Args args;
    std::ranges::copy(loop.args, args.begin());
    args[output] =
        reinterpret_cast<std::uintptr_t>(results.get() + usize(begin / ranges.each) * bytes);
    LoopCode{loop.code, std::span(args).first(loop.args.size()), loop.steps}.run(begin, end);
  });
  auto* out = reinterpret_cast<std::byte*>(loop.args[output]);
  std::memcpy(out, results.get(), bytes);
  for (std::int64_t i = 1; i < ranges.count(); ++i)
    fold.across(out, results.get() + usize(i) * bytes, kept);
}

}  // namespace tlaloc::cpu
