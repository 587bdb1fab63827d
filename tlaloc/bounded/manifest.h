// tlaloc-bounded.json: what a folder with a bounded program holds. A bounded program serves any
// size of its bounded axes by a few bodies, each compiled for the sizes of one bucket.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/base/host_array.h"

namespace tlaloc::bounded {

inline constexpr char kManifestFile[] = "tlaloc-bounded.json";

/// The largest size of an axis.
inline constexpr std::int64_t kMaxSize = std::int64_t{1} << 40;
/// The largest number of bounds.
inline constexpr std::size_t kMaxBounds = 8;

/// A size that callers choose, from `least` to `most`. Buckets ascend, and the last is `most`.
struct Bound {
  std::string name;
  std::int64_t least = 1, most = 1;
  std::vector<std::int64_t> buckets;
  bool operator==(const Bound&) const = default;
};

/// What a parameter of the bodies is.
enum class Role : std::uint8_t {
  data,          ///< an argument of callers; padded at the end of its bounded axes
  valid_length,  ///< a number: the size that a bound has in this call
  valid_mask     ///< an array over one bounded axis: 1 or true up to that size
};

/// One axis: of a fixed size, or of that of a bound.
struct Axis {
  std::int64_t size = 0;
  std::optional<std::size_t> bound;
  bool operator==(const Axis&) const = default;
};

struct Value {
  std::string name;
  DType dtype = DType::f32;
  std::vector<Axis> axes;
  bool operator==(const Value&) const = default;
};

struct Input : Value {
  Role role = Role::data;
  std::optional<std::size_t> bound;  ///< of a length or mask
  double padding = 0;                ///< what follows the elements of data; see can_pad
  /// Of data that callers may give up: the result of the same type that takes over its memory.
  std::optional<std::size_t> result;
  bool operator==(const Input&) const = default;
};

/// The program for arrays of these sizes, which are one bucket of each bound.
struct Body {
  std::vector<std::int64_t> sizes;
  std::string file;    ///< in the manifest's folder
  std::string sha256;  ///< of the file, in hexadecimal
  bool operator==(const Body&) const = default;
};

/// How padded runs were compared with runs of arrays that have no padding.
struct Evidence {
  double tolerance = 0, largest_difference = 0;
  std::vector<std::vector<std::int64_t>> sizes;
  bool operator==(const Evidence&) const = default;
};

struct Manifest {
  std::string name;
  std::vector<Bound> bounds;
  std::vector<Input> inputs;   ///< in the order of the bodies' parameters
  std::vector<Value> results;  ///< what follows them in a body is `exceeded`
  /// Bodies have one more result, a bool: a loop did not end within its trips.
  bool exceeded = false;
  std::vector<Body> bodies;  ///< one for each combination of buckets, the last bound's fastest
  Evidence check;
  bool operator==(const Manifest&) const = default;

  std::string json() const;
  /// The sizes of an input or result where each bound has the given size.
  Extents extents(const Value& v, const std::vector<std::int64_t>& sizes) const;
  /// Which body serves these sizes.
  std::size_t body_for(const std::vector<std::int64_t>& sizes) const;
};

/// The manifest that `text` is. UserError TL-BOUNDED-002 with the place in it: what is no manifest,
/// or contradicts itself; TL-JSON-001. Safe on hostile text: sizes, numbers of bodies and names of
/// files are bounded, and a file is one of the manifest's own folder.
Manifest parse_manifest(std::string_view text, const std::string& name);

/// Whether arrays of a type can be padded with `x`: the type holds it. NaN is no padding.
bool can_pad(DType dtype, double x);
/// The largest valid length of a type, 0 for one that has none: it holds all integers up to there.
std::int64_t largest_length(DType dtype);

/// The buckets of a bound without any of its own: powers of two from 16, and the bound itself.
/// UserError TL-BOUNDED-001 for sizes that no axis has.
std::vector<std::int64_t> default_buckets(const Bound& b);
/// UserError TL-BOUNDED-001: sizes that no axis has, buckets that don't ascend to `most`, or are
/// too many.
void check_buckets(const Bound& b);

/// How many bodies the bounds have; UserError TL-BOUNDED-001 for more than 4096.
std::size_t count_bodies(const std::vector<Bound>& bounds);
/// The sizes of body k.
std::vector<std::int64_t> sizes_of_body(const std::vector<Bound>& bounds, std::size_t k);

}  // namespace tlaloc::bounded
