#include "tests/oracle/goldens.h"

#include <charconv>
#include <fstream>
#include <sstream>

#include "tlaloc/base/error.h"
#include "tlaloc/ops/testing.h"

namespace tlaloc::testing {
namespace {

void need(bool ok, const std::string& what) {
  if (!ok) throw InternalError("goldens: " + what);
}
double number(const std::string& word) {
  double v = 0;
  const auto r = std::from_chars(word.data(), word.data() + word.size(), v);
  need(r.ec == std::errc() && r.ptr == word.data() + word.size(), word);
  return v;
}
Extents extents_of(const std::string& text) {
  Extents e;
  if (text == "scalar") return e;
  std::istringstream in(text);
  for (std::string n; std::getline(in, n, 'x');) e.push_back(std::stoll(n));
  return e;
}

}  // namespace

std::vector<HostArray> Golden::all(DType real, const std::string& key) const {
  std::vector<HostArray> r;
  const auto of_type = arrays_.find(real);
  if (of_type == arrays_.end()) return r;
  for (;;) {
    const auto it = of_type->second.find(key + std::to_string(r.size()));
    if (it == of_type->second.end()) return r;
    r.push_back(it->second);
  }
}
bool Golden::has(DType real, const std::string& key) const {
  const auto of_type = arrays_.find(real);
  return of_type != arrays_.end() && of_type->second.contains(key);
}
void Golden::add(DType real, const std::string& key, HostArray value) {
  need(arrays_[real].emplace(key, std::move(value)).second, key + " stands twice");
}

Goldens read_goldens(const std::string& path) {
  std::ifstream file(path);
  need(file.good(), "cannot read " + path);
  Goldens goldens;
  Golden* golden = nullptr;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string dtype, key, shape;
    words >> dtype;
    if (dtype == "case") {
      const auto [it, added] = goldens.try_emplace(line.substr(5));
      need(added, line + " stands twice");
      golden = &it->second;
      continue;
    }
    words >> key >> shape;
    std::vector<double> values;
    for (std::string w; words >> w;) values.push_back(number(w));
    const Extents extents = extents_of(shape);
    need(element_count(extents) == static_cast<std::int64_t>(values.size()), line);
    const bool is_real = dtype == "real" || dtype == "f64" || dtype == "f32";
    const DType stored = dtype == "bool" ? DType::boolean : DType::i64;
    for (DType real : {DType::f64, DType::f32}) {
      // What does not name the real type stands once for both, or for f64 first and then for f32.
      const bool both = dtype == "real" || key.starts_with("in");
      const bool here =
          is_real ? dtype == name(real) : golden->has(DType::f64, key) == (real == DType::f32);
      if (!both && !here) continue;
      golden->add(real, key, ops::testing::array(is_real ? real : stored, extents, values));
      if (!both) break;
    }
  }
  return goldens;
}

}  // namespace tlaloc::testing
