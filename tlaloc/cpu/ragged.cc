#include "tlaloc/cpu/ragged.h"

#include <cstring>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/convert_element.h"

namespace tlaloc::cpu {
namespace {

[[noreturn]] void fail(const char* code, const std::string& message) {
  throw UserError({code, "scan", message, "", {}});
}

}  // namespace

std::int64_t load_integer(const void* data, DType dtype, std::int64_t i) {
  std::int64_t r = 0;
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    r = ops::convert_element<std::int64_t>(static_cast<const T*>(data)[i]);
  });
  return r;
}

void check_ragged(const KernelCall& call) {
  const auto& c = *static_cast<const RaggedCheck*>(call.data);
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < call.ints[0]; ++i) {
    const std::int64_t piece = load_integer(call.storages[0], c.dtype, i);
    if (piece < 0) fail("TL-SIZE-001", "a ragged length is " + std::to_string(piece));
    sum = checked_add(sum, piece);
  }
  for (std::size_t k = 0; k < c.xs.size(); ++k) {
    if (call.ints[k + 1] == sum) continue;
    fail("TL-SHAPE-001", "xs " + std::to_string(c.xs[k]) + " has " +
                             std::to_string(call.ints[k + 1]) + " elements where " +
                             std::to_string(sum) + " are scanned");
  }
}

void reverse_pieces(const KernelCall& call) {
  const auto row = usize(call.ints[1]) * usize(byte_size(*static_cast<const DType*>(call.data)));
  const auto* rows = reinterpret_cast<const std::int64_t*>(call.storages[1]);
  std::size_t total = 0;
  for (std::int64_t k = 0; k < call.ints[0]; ++k) total += usize(rows[k]) * row;
  const std::byte* from = call.storages[0];
  std::byte* to = call.storages[2] + total;
  for (std::int64_t k = 0; k < call.ints[0]; ++k) {
    const std::size_t bytes = usize(rows[k]) * row;
    to -= bytes;
    if (bytes) std::memcpy(to, from, bytes);
    from += bytes;
  }
}

}  // namespace tlaloc::cpu
