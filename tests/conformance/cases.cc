#include "tests/conformance/cases.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "tlaloc/ir/verify.h"
#include "tlaloc/ops/convert_element.h"

namespace tlaloc::runtime::conformance {
namespace {

constexpr std::array kDTypes{DType::f32, DType::f64, DType::f16, DType::bf16, DType::boolean,
                             DType::i8,  DType::i16, DType::i32, DType::i64,  DType::u8,
                             DType::u16, DType::u32, DType::u64};

template <class T>
T random_element(std::mt19937_64& random, Values values) {
  auto below = [&](std::uint64_t n) { return random() % n; };
  if constexpr (std::is_same_v<T, bool>) {
    return below(2) == 0;
  } else if constexpr (std::is_integral_v<T>) {
    using L = std::numeric_limits<T>;
    constexpr std::array kSpecial{T(0), T(1), static_cast<T>(-1), L::min(), L::max()};
    const bool small = values == Values::small || below(4) == 0;
    if (small) return static_cast<T>(static_cast<int>(below(9)) - (std::is_signed_v<T> ? 4 : 0));
    if (below(4) == 0) return kSpecial[below(kSpecial.size())];
    if (values == Values::moderate) return static_cast<T>(below(101));
    return static_cast<T>(random());
  } else {
    using C = ComputeType<T>;
    using L = std::numeric_limits<C>;
    if (values == Values::small) return T(static_cast<C>(static_cast<int>(below(9)) - 4));
    constexpr std::array kSpecial{C(0),           C(-0.0),  C(1),          C(-1),
                                  C(0.5),         C(2.5),   L::infinity(), -L::infinity(),
                                  L::quiet_NaN(), L::max(), L::lowest(),   L::min(),
                                  L::denorm_min()};
    constexpr std::size_t kModerate = 9;  // the first ones
    if (below(8) == 0) {
      return T(kSpecial[below(values == Values::moderate ? kModerate : kSpecial.size())]);
    }
    if (values == Values::any && below(8) == 0) {
      using Bits =
          std::conditional_t<sizeof(T) == 2, std::uint16_t,
                             std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
      return std::bit_cast<T>(static_cast<Bits>(random()));
    }
    const double magnitude = std::pow(10.0, static_cast<double>(below(5000)) / 1000 - 3);  // to 100
    return T(static_cast<C>(below(2) ? magnitude : -magnitude));
  }
}

/// Floats in order as integers, both zeros at 0.
template <class T>
std::int64_t ordered(T x) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::int16_t,
                                  std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>;
  const std::int64_t bits = std::bit_cast<Bits>(x);
  return bits < 0 ? std::int64_t{std::numeric_limits<Bits>::min()} - bits : bits;
}

}  // namespace

std::span<const DType> dtypes() { return kDTypes; }
std::span<const DType> dtypes_by_size() {
  static constexpr std::array kBySize{DType::f32, DType::boolean, DType::bf16, DType::i8,
                                      DType::f64};
  return kBySize;
}

std::vector<Extents> shapes(bool few) {
  if (few) return {{}, {0}, {3, 5}};
  return {{},
          {0},
          {1},
          {7},
          {33},
          {1031},
          {3, 5},
          {0, 3},
          {64, 65},
          {2, 3, 5},
          {1, 5, 1},
          {4, 0, 2},
          {2, 1, 3, 2},
          {2, 1, 3, 1, 2},
          {1, 2, 3, 1, 2, 3}};
}
std::string shape_label(DType dtype, const Extents& extents) {
  return std::string(name(dtype)) + to_string(std::span(extents));
}

std::string list_label(std::span<const std::int64_t> values) { return to_string(values); }

// ---- sizes ----

ir::Dim Sizes::operator()(std::int64_t size) {
  if (!symbolic_ || size == 1) return size;
  auto it = symbols_.find(size);
  if (it == symbols_.end()) {
    it = symbols_.emplace(size, ir::Symbol::fresh("n" + std::to_string(size))).first;
    values_.emplace(it->second.id(), size);
  }
  return it->second;
}
std::vector<ir::Dim> Sizes::operator()(std::span<const std::int64_t> sizes) {
  std::vector<ir::Dim> r;
  for (std::int64_t s : sizes) r.push_back((*this)(s));
  return r;
}
ir::Type Sizes::type(DType dtype, std::span<const std::int64_t> extents) {
  return ir::Type::get(dtype, (*this)(extents));
}

// ---- cases ----

Cases::Cases(const Row& row, std::uint64_t seed, Sink sink)
    : row_(row),
      random_(seed ^ std::hash<std::string_view>{}(row.op->name)),
      sink_(std::move(sink)) {}

HostArray Cases::array(DType dtype, Extents extents, Values values) {
  HostArray a = HostArray::uninitialized(dtype, std::move(extents));
  dispatch(dtype, [&]<class T>(TypeTag<T>) {
    for (T& x : a.as_mutable<T>()) x = random_element<T>(random_, values);
  });
  return a;
}
std::int64_t Cases::integer(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
}

bool Cases::accepts(std::span<const ir::Type> types, const Build& build) {
  ir::Builder b;
  ir::Vals params;
  for (ir::Type t : types) params.push_back(b.param(t));
  Sizes sizes(false);
  try {
    build(params, sizes);
  } catch (const UserError& e) {
    if (e.code() == "TL-DTYPE-004") return false;
    throw;
  }
  return true;
}

void Cases::add(const std::string& label, std::vector<HostArray> inputs, const Build& build,
                const std::vector<const ir::Encoding*>& encodings) {
  for (bool symbolic : {false, true}) {
    Sizes sizes(symbolic);
    ir::Builder b;
    ir::Vals params;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      Extents extents = inputs[k].extents();
      if (const ir::Encoding* e = k < encodings.size() ? encodings[k] : nullptr) {
        extents.back() = extents.back() / e->block_bytes * e->block_elements;
        params.push_back(b.param(ir::Type::get(DType::f32, sizes(extents), e)));
      } else {
        params.push_back(b.param(sizes.type(inputs[k].dtype(), extents)));
      }
    }
    Case c;
    try {
      c.graph = b.build(build(params, sizes));
    } catch (const UserError&) {
      if (!symbolic) throw;
      ++constant_only_;
      return;
    }
    if (symbolic && sizes.values().empty()) return;  // the same graph again
    ir::verify(*c.graph);
    c.name = std::string(row_.op->name) + "/" + label + (symbolic ? "/symbolic" : "");
    c.inputs = inputs;
    c.dims = sizes.values();
    c.ulps = row_.ulps;
    sink_(std::move(c));
  }
}

std::vector<const Row*> all_rows() {
  std::vector<const Row*> by_id(ops::table().size());
  for (auto family : {elementwise_rows(), constant_rows(), shape_rows(), reduction_rows(),
                      order_rows(), indexing_rows(), linalg_rows(), system_rows(), region_rows()}) {
    for (const Row& row : family) by_id[row.op->id] = &row;
  }
  return by_id;
}

// ---- comparison ----

std::string difference(const HostArray& expected, const HostArray& got, double ulps,
                       double narrow_ulps) {
  if (expected.dtype() != got.dtype() || expected.extents() != got.extents()) {
    return "expected " + shape_label(expected.dtype(), expected.extents()) + ", got " +
           shape_label(got.dtype(), got.extents());
  }
  return dispatch(expected.dtype(), [&]<class T>(TypeTag<T>) -> std::string {
    using C = ComputeType<T>;
    const auto want = expected.as<T>(), have = got.as<T>();
    for (std::size_t i = 0; i < want.size(); ++i) {
      const C x = static_cast<C>(want[i]), y = static_cast<C>(have[i]);
      bool same = false;
      double off = 0;
      if constexpr (std::is_floating_point_v<C>) {
        const double allowed = ulps > 0 && sizeof(T) == 2 ? narrow_ulps : ulps;
        // Subtracted as integers: a double would lose the last places of 64-bit floats.
        const std::int64_t a = ordered(want[i]), b = ordered(have[i]);
        off = static_cast<double>(static_cast<std::uint64_t>(std::max(a, b)) -
                                  static_cast<std::uint64_t>(std::min(a, b)));
        same = std::isnan(x) || std::isnan(y)
                   ? std::isnan(x) && std::isnan(y)
                   : off <= allowed && (allowed > 0 || std::signbit(x) == std::signbit(y));
      } else {
        same = x == y;
      }
      if (same) continue;
      auto text = [](const T& v) {
        const std::string s = to_string(HostArray::scalar(v));
        return s.substr(s.find('{'));
      };
      return "element " + std::to_string(i) + " of " +
             shape_label(expected.dtype(), expected.extents()) + ": expected " + text(want[i]) +
             ", got " + text(have[i]) +
             (off > 0 ? " (" + std::to_string(off) + " units in the last place)" : "");
    }
    return {};
  });
}

}  // namespace tlaloc::runtime::conformance
