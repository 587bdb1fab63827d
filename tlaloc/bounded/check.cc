#include "tlaloc/bounded/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "tlaloc/base/error.h"
#include "tlaloc/bounded/padding.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/interp/interp_backend.h"
#include "tlaloc/ops/convert_element.h"

namespace tlaloc::bounded {
namespace {

using Sizes = std::vector<std::int64_t>;
using Random = std::mt19937_64;

std::int64_t between(std::int64_t low, std::int64_t high, Random& random) {
  return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
}

/// The first and last size of each bucket, with random sizes of the other bounds; all least, all
/// most; random ones.
std::vector<Sizes> sizes_to_check(const std::vector<Bound>& bounds, int random_sizes,
                                  Random& random) {
  std::set<Sizes> r;
  const auto any = [&] {
    Sizes s;
    for (const Bound& b : bounds) s.push_back(between(b.least, b.most, random));
    return s;
  };
  Sizes least, most;
  for (std::size_t k = 0; k < bounds.size(); ++k) {
    const Bound& b = bounds[k];
    least.push_back(b.least);
    most.push_back(b.most);
    std::int64_t first = b.least;
    for (const std::int64_t last : b.buckets) {
      for (const std::int64_t size : {first, last}) {
        Sizes s = any();
        s[k] = size;
        r.insert(std::move(s));
      }
      first = last + 1;
    }
  }
  r.insert(least);
  r.insert(most);
  for (int k = 0; k < random_sizes; ++k) r.insert(any());
  return {r.begin(), r.end()};
}

HostArray random_array(DType dtype, const Extents& extents, const HostArray* sample,
                       Random& random) {
  HostArray a = HostArray::uninitialized(dtype, extents);
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    for (T& x : a.as_mutable<T>()) {
      if (sample) {
        x = sample->as<T>()[random() % static_cast<std::uint64_t>(sample->size())];
      } else if (is_float(dtype)) {
        // Of two uniform numbers, so that results tell elements apart.
        const double u = static_cast<double>(random() >> 11) * 0x1p-53;
        const double v = static_cast<double>(random() >> 11) * 0x1p-53;
        x = ops::convert_element<T>(u + v - 1 + (u - v) * u);
      } else {
        x = ops::convert_element<T>(between(0, dtype == DType::boolean ? 1 : 9, random));
      }
    }
  });
  return a;
}

/// The largest difference as a part of max(1, |expected|); infinity for integers that differ.
double distance(const HostArray& got, const HostArray& expected) {
  if (!is_float(got.dtype())) {
    return identical(got, expected) ? 0 : std::numeric_limits<double>::infinity();
  }
  double worst = 0;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    const double x = got.element(i), y = expected.element(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double d = std::abs(x - y) / std::max(1.0, std::abs(y));
    worst = std::isfinite(d) ? std::max(worst, d) : std::numeric_limits<double>::infinity();
  }
  return worst;
}

double default_tolerance(const Manifest& m) {
  double t = 1e-9;
  for (const Value& v : m.results) {
    if (v.dtype == DType::f32) t = std::max(t, 1e-4);
    if (v.dtype == DType::f16 || v.dtype == DType::bf16) t = std::max(t, 2e-2);
  }
  return t;
}

/// The manifest with padding that shows wherever it gets: NaN, or the largest number. Where the
/// function masks an axis itself, it may rely on the padding that was chosen.
Manifest spoiled(Manifest m, const ExportOptions& options) {
  const auto masks_itself = [&](const Axis& a) {
    return a.bound && std::ranges::find(options.valid, options.bounds[*a.bound].symbol,
                                        &ValidRequest::symbol) != options.valid.end();
  };
  for (Input& i : m.inputs) {
    if (std::ranges::any_of(i.axes, masks_itself)) continue;
    i.padding = is_float(i.dtype) ? std::numeric_limits<double>::quiet_NaN()
                                  : std::numeric_limits<double>::infinity();
  }
  return m;
}

}  // namespace

void check_padding(const ir::GraphRef& exact, const ExportOptions& options, Exported& exported) {
  Manifest& m = exported.manifest;
  m.check.tolerance = options.tolerance > 0 ? options.tolerance : default_tolerance(m);
  const Program plain = exported.program(interp::interp_backend());
  const Program with_spoiled_padding(
      spoiled(m, options), [&](std::size_t k) { return *exported.bodies[k]; },
      interp::interp_backend());
  Random random(options.seed);
  for (const Sizes& sizes : sizes_to_check(m.bounds, options.random_sizes, random)) {
    std::vector<HostArray> all, data;
    for (std::size_t i = 0; i < exact->param_count(); ++i) {
      const Input& input = m.inputs[i];
      const Extents extents = m.extents(input, sizes);
      if (input.role == Role::data) {
        const bool has = i < options.samples.size() && !options.samples[i].empty_handle() &&
                         options.samples[i].size() > 0;
        const bool bounded =
            std::ranges::any_of(input.axes, [](const Axis& a) { return a.bound.has_value(); });
        all.push_back(has && !bounded ? options.samples[i]
                                      : random_array(input.dtype, extents,
                                                     has ? &options.samples[i] : nullptr, random));
        data.push_back(all.back());
      } else {
        const std::int64_t size = sizes[*input.bound];
        all.push_back(input.role == Role::valid_mask ? valid_mask(input.dtype, size, size)
                                                     : valid_length(input.dtype, size));
      }
    }
    const std::vector<HostArray> expected = interp::run(*exact, all);
    const auto compare = [&](const Program& p) {
      const std::vector<HostArray> got = p.run_host(data);
      for (std::size_t k = 0; k < got.size(); ++k) {
        const double d = distance(got[k], expected[k]);
        if (d > m.check.tolerance) {
          std::string at;
          for (std::size_t i = 0; i < sizes.size(); ++i) {
            at += (i ? ", " : "") + m.bounds[i].name + " = " + std::to_string(sizes[i]);
          }
          throw UserError(
              {"TL-BOUNDED-001",
               exact->name(),
               fmt::format("padding changes the result {} where {}: it is off by {:.3g}", k, at, d),
               options.valid.empty() || &p == &with_spoiled_padding
                   ? "this is a defect of the export, or of sizes that the function reads: please "
                     "report it"
                   : "mask what the function adds up or compares along that axis, or choose "
                     "padding that changes nothing",
               {}});
        }
        m.check.largest_difference = std::max(m.check.largest_difference, d);
      }
    };
    compare(plain);
    compare(with_spoiled_padding);
    m.check.sizes.push_back(sizes);
  }
}

}  // namespace tlaloc::bounded
