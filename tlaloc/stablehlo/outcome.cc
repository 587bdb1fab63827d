#include "tlaloc/stablehlo/outcome.h"

#include "tlaloc/base/error.h"
#include "tlaloc/ops/strided.h"

namespace tlaloc::stablehlo {
namespace {

std::int64_t number(const ReadScalar& read, std::size_t output) {
  return read(output, DType::i64).as<std::int64_t>()[0];
}

}  // namespace

void check_loops_ended(const Emitted& e, const ReadScalar& read) {
  if (!e.exceeded || !read(*e.exceeded, DType::boolean).as<bool>()[0]) return;
  throw UserError(
      {"TL-LOOP-001", "while", "the condition still holds after all trips", "raise max_trips", {}});
}

Extents result_extents(const Emitted& e, std::size_t k, const ReadScalar& read) {
  Extents extents = e.results[k].extents;
  for (const auto& l : e.lengths) {
    if (l.result == k) extents[l.axis] = number(read, l.output);
  }
  return extents;
}

std::vector<std::int64_t> result_dims(const Emitted& e, const ReadScalar& read) {
  std::vector<std::int64_t> dims;
  for (const auto& d : e.result_dims) dims.push_back(d.output ? number(read, *d.output) : d.size);
  return dims;
}

HostArray without_padding(const HostArray& padded, const Extents& extents) {
  if (padded.extents() == extents) return padded;
  HostArray y = HostArray::uninitialized(padded.dtype(), extents);
  ops::gather_strided(padded, 0, ops::row_major_strides(padded.extents()), y);
  return y;
}

}  // namespace tlaloc::stablehlo
