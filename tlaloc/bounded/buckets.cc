// Buckets, and which body they choose.
#include <algorithm>

#include "tlaloc/base/error.h"
#include "tlaloc/bounded/manifest.h"

namespace tlaloc::bounded {
namespace {

constexpr std::size_t kMaxBodies = 4096;

[[noreturn]] void refuse(const Bound& b, const std::string& what, const std::string& hint) {
  throw UserError({"TL-BOUNDED-001", "bounded", "the bound " + b.name + " " + what, hint, {}});
}
void check_sizes(const Bound& b) {
  if (b.least >= 0 && b.least <= b.most && b.most <= kMaxSize) return;
  refuse(b, "has sizes from " + std::to_string(b.least) + " to " + std::to_string(b.most),
         "give sizes that ascend, from 0 to at most " + std::to_string(kMaxSize));
}

}  // namespace

std::vector<std::int64_t> default_buckets(const Bound& b) {
  check_sizes(b);
  std::vector<std::int64_t> r;
  for (std::int64_t n = 16; n < b.most; n *= 2) {
    if (n >= b.least) r.push_back(n);
  }
  r.push_back(b.most);
  return r;
}

void check_buckets(const Bound& b) {
  check_sizes(b);
  const auto fail = [&](const std::string& what) {
    refuse(b, what, "give buckets that ascend to the bound, such as 16,32,64");
  };
  if (b.buckets.empty() || b.buckets.size() > kMaxBodies || b.buckets.back() != b.most) {
    fail("has no buckets that end with " + std::to_string(b.most));
  }
  for (std::size_t k = 0; k < b.buckets.size(); ++k) {
    if (b.buckets[k] < (k ? b.buckets[k - 1] + 1 : b.least)) {
      fail("has the bucket " + std::to_string(b.buckets[k]) + " in the wrong place");
    }
  }
}

std::size_t count_bodies(const std::vector<Bound>& bounds) {
  std::size_t n = 1;
  for (const Bound& b : bounds) {
    n *= b.buckets.size();
    if (n > kMaxBodies) {
      throw UserError({"TL-BOUNDED-001",
                       "bounded",
                       "the buckets of all bounds combine to more than " +
                           std::to_string(kMaxBodies) + " bodies",
                       "give fewer buckets",
                       {}});
    }
  }
  return n;
}

std::vector<std::int64_t> sizes_of_body(const std::vector<Bound>& bounds, std::size_t k) {
  std::vector<std::int64_t> sizes(bounds.size());
  for (std::size_t i = bounds.size(); i-- > 0;) {
    const auto& buckets = bounds[i].buckets;
    sizes[i] = buckets[k % buckets.size()];
    k /= buckets.size();
  }
  return sizes;
}

Extents Manifest::extents(const Value& v, const std::vector<std::int64_t>& sizes) const {
  Extents r;
  for (const Axis& a : v.axes) r.push_back(a.bound ? sizes[*a.bound] : a.size);
  return r;
}

std::size_t Manifest::body_for(const std::vector<std::int64_t>& sizes) const {
  std::size_t k = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const auto& buckets = bounds[i].buckets;
    const auto bucket = std::ranges::lower_bound(buckets, sizes[i]);
    internal_check(bucket != buckets.end(), "a size is larger than its bound");
    k = k * buckets.size() + static_cast<std::size_t>(bucket - buckets.begin());
  }
  return k;
}

}  // namespace tlaloc::bounded
