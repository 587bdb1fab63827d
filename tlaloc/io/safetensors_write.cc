#include <algorithm>
#include <cstring>
#include <filesystem>
#include <tuple>
#include <unordered_set>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/base/utf8.h"
#include "tlaloc/io/safetensors.h"

namespace tlaloc::io {
namespace {

namespace fs = std::filesystem;

/// Headers end at a multiple, so that the content starts aligned for every element type.
constexpr std::size_t kHeaderAlignment = 8;
constexpr std::string_view kSuffix = ".safetensors";

[[noreturn]] void refuse(const std::string& message) {
  throw UserError({"TL-SAFETENSORS-004", "safetensors", message, "rename or reshape it", {}});
}

/// Tensors [first, last) of the list make one file.
struct Shard {
  std::size_t first = 0, last = 0;
  std::int64_t bytes = 0;
};

class Plan {
 public:
  Plan(const std::vector<TensorSpec>& tensors, const SafetensorsOptions& options)
      : tensors_(tensors), options_(options) {
    std::unordered_set<std::string_view> names{"__metadata__"};
    auto check_name = [&](const std::string& name, const char* what) {
      if (!is_utf8(name)) refuse(std::string(what) + " has a name that is no UTF-8");
      if (!names.insert(name).second) {
        refuse(std::string(what) + " has the name '" + name + "', which is taken");
      }
    };
    shards_.emplace_back();
    for (const TensorSpec& t : tensors) {
      check_name(t.name, "a tensor");
      if (!in_safetensors(t.storage)) {
        throw UserError({"TL-SAFETENSORS-002",
                         "safetensors",
                         "'" + t.name + "' is stored as " + std::string(name(t.storage)) +
                             ", which safetensors files don't have",
                         "decode it first, or write GGUF",
                         {}});
      }
      const std::optional<std::int64_t> bytes = storage_bytes(t.storage, t.shape);
      if (!bytes) {
        refuse("'" + t.name + "' is " + std::string(name(t.storage)) + to_string(t.shape) +
               ", which fills no whole bytes, or more than 63 bits count");
      }
      bytes_.push_back(*bytes);
      add(*bytes);
    }
    names = {};
    for (const auto& [key, text] : options.metadata) {
      check_name(key, "metadata");
      if (!is_utf8(text)) refuse("the metadata '" + key + "' is no UTF-8");
    }
  }

  const std::vector<Shard>& shards() const { return shards_; }
  std::int64_t bytes(std::size_t i) const { return bytes_[i]; }

  std::string header(const Shard& shard) const {
    std::string h = "{";
    if (!options_.metadata.empty()) {
      h += "\"__metadata__\":{";
      for (const auto& [key, text] : options_.metadata) {
        h.append(json_quoted(key)).append(":").append(json_quoted(text)) += ',';
      }
      h.back() = '}';
      h += ',';
    }
    std::int64_t at = 0;
    for (std::size_t i = shard.first; i < shard.last; ++i) {
      const TensorSpec& t = tensors_[i];
      h.append(json_quoted(t.name)).append(":{\"dtype\":\"").append(name(t.storage));
      h += "\",\"shape\":[";
      for (std::size_t d = 0; d < t.shape.size(); ++d) {
        h.append(d ? "," : "").append(std::to_string(t.shape[d]));
      }
      h.append("],\"data_offsets\":[").append(std::to_string(at)) += ',';
      at += bytes_[i];
      h.append(std::to_string(at)) += "]},";
    }
    if (h.size() > 1) h.pop_back();
    h += '}';
    h.append((kHeaderAlignment - h.size() % kHeaderAlignment) % kHeaderAlignment, ' ');
    return h;
  }

  /// As transformers writes it.
  std::string index(const std::vector<std::string>& files) const {
    std::vector<std::pair<std::string_view, std::string_view>> map;
    std::int64_t total = 0;
    for (std::size_t s = 0; s < shards_.size(); ++s) {
      total += shards_[s].bytes;
      for (std::size_t i = shards_[s].first; i < shards_[s].last; ++i) {
        map.emplace_back(tensors_[i].name, files[s]);
      }
    }
    std::sort(map.begin(), map.end());
    std::string text = "{\n  \"metadata\": {\n    \"total_size\": " + std::to_string(total) +
                       "\n  },\n  \"weight_map\": {\n";
    for (const auto& [tensor, file] : map) {
      text.append("    ").append(json_quoted(tensor)).append(": ").append(json_quoted(file));
      text += ",\n";
    }
    text.resize(text.size() - 2);
    return text + "\n  }\n}\n";
  }

 private:
  void add(std::int64_t bytes) {
    Shard* shard = &shards_.back();
    const std::int64_t together = checked_add(shard->bytes, bytes);
    if (options_.max_shard_bytes > 0 && together > options_.max_shard_bytes &&
        shard->last > shard->first) {
      shards_.push_back({shard->last, shard->last, 0});
      shard = &shards_.back();
    }
    ++shard->last;
    shard->bytes += bytes;
  }

  const std::vector<TensorSpec>& tensors_;
  const SafetensorsOptions& options_;
  std::vector<std::int64_t> bytes_;
  std::vector<Shard> shards_;
};

std::string index_name(const std::string& stem) {
  return stem + std::string(kSuffix) + ".index.json";
}
std::string shard_name(const std::string& stem, std::size_t i, std::size_t n) {
  auto five = [](std::size_t number) {
    std::string digits = std::to_string(number);
    return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
  };
  return stem + "-" + five(i + 1) + "-of-" + five(n) + std::string(kSuffix);
}

bool is_shard_name(std::string_view name, std::string_view stem) {
  auto skip = [&](std::string_view text) {
    if (!name.starts_with(text)) return false;
    name.remove_prefix(text.size());
    return true;
  };
  auto skip_number = [&] {
    const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
    name.remove_prefix(digits);
    return digits >= 5;
  };
  return skip(stem) && skip("-") && skip_number() && skip("-of-") && skip_number() &&
         name == kSuffix;
}

/// Removes what an earlier write left under the name and this one, of the files `names`, does not
/// replace: readers would take it for the model, or be left with shards that belong to none.
void remove_before(const std::string& path, const std::string& stem,
                   const std::vector<std::string>& names) {
  const fs::path folder = fs::path(path).parent_path();
  const std::string single = fs::path(path).filename().string();
  std::vector<fs::path> stale;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool earlier = name == single || name == index_name(stem) || is_shard_name(name, stem);
    const bool replaced = std::find(names.begin(), names.end(), name) != names.end();
    if (earlier && !replaced && entry.is_regular_file(error)) stale.push_back(entry.path());
  }
  for (const fs::path& file : stale) {
    if (fs::remove(file, error) || !error) continue;
    throw EnvironmentError({"TL-FILE-001",
                            "safetensors",
                            "can't remove " + file.string() +
                                " of the model that was there before: " + error.message(),
                            "remove it, or readers may take it for the model",
                            {}});
  }
}

}  // namespace

void sort_for_safetensors(std::vector<TensorSpec>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorSpec& a, const TensorSpec& b) {
    return std::tie(b.storage, a.name) < std::tie(a.storage, b.name);
  });
}

void write_safetensors(const std::string& path, const std::vector<TensorSpec>& tensors,
                       const TensorSource& source, const SafetensorsOptions& options) {
  const Plan plan(tensors, options);
  std::vector<std::string> names;
  std::vector<NewFile> files;
  const fs::path folder = fs::path(path).parent_path();
  std::string stem = fs::path(path).filename().string();
  if (stem.ends_with(kSuffix)) stem.resize(stem.size() - kSuffix.size());
  const std::size_t count = plan.shards().size();
  for (std::size_t s = 0; s < count; ++s) {
    names.push_back(count == 1 ? fs::path(path).filename().string() : shard_name(stem, s, count));
    files.emplace_back("safetensors", (folder / names[s]).string());
    const Shard& shard = plan.shards()[s];
    const std::string header = plan.header(shard);
    const std::uint64_t length = header.size();
    files[s].write(std::as_bytes(std::span(&length, 1)));
    files[s].write(std::as_bytes(std::span(header)));
    for (std::size_t i = shard.first; i < shard.last; ++i) {
      const std::span<const std::byte> bytes = source(i);
      internal_check(bytes.size() == usize(plan.bytes(i)), "a tensor's bytes don't fit its shape");
      files[s].write(bytes);
    }
    files[s].close();
  }
  if (count > 1) {
    const std::string index = plan.index(names);
    names.push_back(index_name(stem));
    files.emplace_back("safetensors", (folder / names.back()).string());
    files.back().write(std::as_bytes(std::span(index)));
    files.back().close();
  }
  put_files(files);
  remove_before(path, stem, names);
}

}  // namespace tlaloc::io
