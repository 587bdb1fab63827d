// How an op gets its conformance cases: one row per op in its family's .cc file.
#pragma once

#include <functional>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/ops/rows.h"
#include "tlaloc/ops/val_ops.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::runtime::conformance {

/// What inputs hold.
enum class Values : std::uint8_t {
  any,       ///< all magnitudes, infinities, NaN, signed zeros, denormals; extreme integers
  moderate,  ///< at most 100 in magnitude, NaN and infinities among them
  small,     ///< integers of at most 4 in magnitude: sums are exact in any order
};

class Cases;
struct Row {
  const ir::OpDef* op;
  void (*generate)(Cases&, const Row&);
  Values values = Values::any;
  /// How far a floating result may be off, in units of its last place; narrow floats by one. Zero
  /// wants the reference's bits (any NaN equals any other).
  double ulps = 0;
  int operands = 1;  ///< for generators that serve several arities
};

/// Sizes of one case: constants, or one symbol per distinct size other than 1 (a literal 1 is what
/// broadcasts).
class Sizes {
 public:
  explicit Sizes(bool symbolic) : symbolic_(symbolic) {}
  bool symbolic() const { return symbolic_; }
  ir::Dim operator()(std::int64_t size);
  std::vector<ir::Dim> operator()(std::span<const std::int64_t> sizes);
  ir::Type type(DType dtype, std::span<const std::int64_t> extents);
  const DimValues& values() const { return values_; }

 private:
  bool symbolic_;
  std::map<std::int64_t, ir::Symbol> symbols_;
  DimValues values_;
};

struct Case {
  std::string name;
  ir::GraphRef graph;
  std::vector<HostArray> inputs;
  DimValues dims;
  double ulps = 0;
  double narrow_ulps = 1;  ///< of floats of 16 bits, where `ulps` is not zero
};

/// What a generator draws from and adds to.
class Cases {
 public:
  using Sink = std::function<void(Case)>;
  Cases(const Row& row, std::uint64_t seed, Sink sink);

  std::mt19937_64& random() { return random_; }
  int constant_only() const { return constant_only_; }
  HostArray array(DType dtype, Extents extents, Values values);
  HostArray array(DType dtype, Extents extents) {
    return array(dtype, std::move(extents), row_.values);
  }
  /// Uniform in [low, high].
  std::int64_t integer(std::int64_t low, std::int64_t high);

  using Build = std::function<ir::Vals(const ir::Vals& params, Sizes& sizes)>;
  /// Adds the case with constant sizes and, where the op accepts them, with symbolic ones.
  /// Where `encodings` has an entry that is not null, the input is the bytes of f32 values encoded
  /// so.
  void add(const std::string& label, std::vector<HostArray> inputs, const Build& build,
           const std::vector<const ir::Encoding*>& encodings = {});
  /// True if `build` accepts parameters of these types; false for a refused element type.
  static bool accepts(std::span<const ir::Type> types, const Build& build);

 private:
  const Row& row_;
  std::mt19937_64 random_;
  Sink sink_;
  int constant_only_ = 0;
};

/// All element types that values may have.
std::span<const DType> dtypes();
/// Ranks 0 to 6; zero, one and odd sizes. `few`: a selection, for what is repeated per dtype.
std::vector<Extents> shapes(bool few);
std::string shape_label(DType dtype, const Extents& extents);
/// "[0, 2]".
std::string list_label(std::span<const std::int64_t> values);
/// Element types that differ to an op that only moves elements: one per size, and bool.
std::span<const DType> dtypes_by_size();

// The families.
std::span<const Row> elementwise_rows();
std::span<const Row> constant_rows();
std::span<const Row> shape_rows();
std::span<const Row> reduction_rows();
std::span<const Row> order_rows();
std::span<const Row> indexing_rows();
std::span<const Row> linalg_rows();
std::span<const Row> system_rows();
std::span<const Row> region_rows();
/// All rows, by op id; null where an op has none.
std::vector<const Row*> all_rows();

/// The first difference between what was expected and what came; empty if there is none.
std::string difference(const HostArray& expected, const HostArray& got, double ulps,
                       double narrow_ulps = 1);

}  // namespace tlaloc::runtime::conformance
