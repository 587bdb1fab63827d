#include "tests/llm/tiny_models.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>

#include "tlaloc/base/files.h"
#include "tlaloc/base/json.h"
#include "tlaloc/io/safetensors.h"
#include "tlaloc/io/testdata/temporary_folder.h"

namespace tlaloc::llm {
namespace {

namespace json = boost::json;
const std::filesystem::path kGoldens = "tests/llm/goldens";

template <class T>
std::vector<T> list_of(const json::value& v) {
  std::vector<T> all;
  for (const json::value& x : v.as_array()) all.push_back(x.to_number<T>());
  return all;
}
Golden::Rows rows_of(const json::value& v) {
  Golden::Rows rows;
  for (const json::value& row : v.as_array()) rows.push_back(list_of<float>(row));
  return rows;
}

}  // namespace

Golden read_golden(const std::string& name) {
  const std::string path = (kGoldens / (name + ".json")).string();
  const auto file = MappedFile::open("golden", path);
  const std::string_view text(reinterpret_cast<const char*>(file->bytes().data()),
                              file->bytes().size());
  const json::value value = parse_json(text, path);
  const json::object& o = value.as_object();
  Golden g;
  g.config = o.at("config").as_object();
  for (const auto& [key, v] : o.at("tensors").as_object()) {
    const json::array& all = v.as_array();
    g.tensors[key] = {list_of<std::int64_t>(all[0]), all[1].to_number<float>(),
                      all[2].to_number<float>()};
  }
  g.ids = list_of<text::TokenId>(o.at("ids"));
  g.step_ids = list_of<text::TokenId>(o.at("step_ids"));
  g.positions = list_of<std::size_t>(o.at("positions"));
  g.logits = rows_of(o.at("logits"));
  g.step_logits = rows_of(o.at("step_logits"));
  return g;
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kGoldens)) {
    names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<float> tensor_values(const std::string& name, const Golden::Recipe& recipe) {
  std::uint64_t seed = 0xcbf29ce484222325;
  for (const char c : name) seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  std::vector<float> values(static_cast<std::size_t>(element_count(recipe.shape)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint64_t x = seed + (i + 1) * 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x ^= x >> 31;
    const float u = static_cast<float>(static_cast<double>(x >> 40) / 8388608.0 - 1);
    values[i] = recipe.base + recipe.scale * u;
  }
  return values;
}

void write_checkpoint(const Golden& golden, const std::string& folder) {
  const std::filesystem::path path = folder;
  std::ofstream(path / "config.json", std::ios::binary) << json::serialize(golden.config);
  std::vector<io::TensorSpec> specs;
  for (const auto& [name, recipe] : golden.tensors) {
    specs.push_back({name, io::Storage::f32, recipe.shape});
  }
  std::vector<float> values;
  io::write_safetensors((path / "model.safetensors").string(), specs, [&](std::size_t i) {
    values = tensor_values(specs[i].name, golden.tensors.at(specs[i].name));
    return std::as_bytes(std::span(values));
  });
}

std::shared_ptr<const Model> load_golden(const std::string& name, const Golden& golden) {
  const io::testing::TemporaryFolder folder;
  write_checkpoint(golden, folder.path());
  LoadOptions options;
  // The length up to which the short factors are for.
  if (name == "phi3_longrope_short") options.checkpoint.context = 64;
  return load(folder.path(), options);
}

}  // namespace tlaloc::llm
