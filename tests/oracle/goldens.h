// The file that jax_goldens.py writes; the script's head says what is in it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tlaloc/base/host_array.h"

namespace tlaloc::testing {

class Golden {
 public:
  /// key0, key1, … in the given real type; empty if there are none.
  std::vector<HostArray> all(DType real, const std::string& key) const;
  bool has(DType real, const std::string& key) const;
  void add(DType real, const std::string& key, HostArray value);

 private:
  std::map<DType, std::map<std::string, HostArray>> arrays_;
};
using Goldens = std::map<std::string, Golden>;

Goldens read_goldens(const std::string& path);

}  // namespace tlaloc::testing
