#include "tlaloc/io/safetensors.h"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/io/recognize.h"

namespace tlaloc::io {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

/// As in the reference library.
constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::string_view kIndexSuffix = ".index.json";
constexpr JsonLimits kHeaderLimits{.bytes = kMaxHeader, .depth = 4};

std::string_view view(json::string_view s) { return {s.data(), s.size()}; }
std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

[[noreturn]] void refuse(const std::string& name, const std::string& message,
                         const std::string& hint = "get the file anew") {
  throw UserError({"TL-SAFETENSORS-001", "safetensors", name + ": " + message, hint, {}});
}
/// Refuses what is another kind of file.
void refuse_others(std::span<const std::byte> file, const std::string& name) {
  const Recognized r = recognize(file);
  if (r.what.empty()) return;
  refuse(name, "this is " + std::string(r.what) + ", where a safetensors file is due",
         std::string(r.hint));
}

/// Reads the header's entries.
class Header {
 public:
  explicit Header(const std::string& name) : name_(name) {}

  SafetensorsMetadata metadata(const json::value& v) const {
    SafetensorsMetadata metadata;
    if (v.is_null()) return metadata;
    if (!v.is_object()) refuse(name_, "__metadata__ is no object");
    for (const auto& [key, text] : v.get_object()) {
      if (!text.is_string()) {
        refuse(name_, "__metadata__ has " + json_quoted(view(key)) + ", which is no string");
      }
      metadata.emplace_back(key, text.get_string());
    }
    return metadata;
  }

  struct Entry {
    TensorSpec spec;
    std::int64_t begin = 0, end = 0;
  };
  Entry entry(std::string_view key, const json::value& v) const {
    Entry e;
    e.spec.name = key;
    const json::string_view fields[] = {"dtype", "shape", "data_offsets"};
    if (!v.is_object()) wrong(key, "is no object");
    const json::object& object = v.get_object();
    for (const auto& field : object) {
      if (std::find(std::begin(fields), std::end(fields), field.key()) == std::end(fields)) {
        wrong(key, "has the unknown field " + json_quoted(view(field.key())));
      }
    }
    for (json::string_view field : fields) {
      if (!object.contains(field)) wrong(key, "lacks " + std::string(field));
    }
    const json::value& dtype = object.at("dtype");
    if (!dtype.is_string()) wrong(key, "has a dtype that is no string");
    const std::optional<Storage> storage = parse_storage(view(dtype.get_string()));
    if (!storage || !in_safetensors(*storage)) {
      throw UserError({"TL-SAFETENSORS-002",
                       "safetensors",
                       name_ + ": '" + std::string(key) + "' is stored as " +
                           json_quoted(view(dtype.get_string())) + ", which is not known",
                       "save it with an element type of safetensors 0.8",
                       {}});
    }
    e.spec.storage = *storage;
    e.spec.shape = sizes(key, "shape", object);
    const Extents offsets = sizes(key, "data_offsets", object);
    if (offsets.size() != 2) wrong(key, "has data_offsets that are not two");
    e.begin = offsets[0];
    e.end = offsets[1];
    const std::optional<std::int64_t> bytes = storage_bytes(*storage, e.spec.shape);
    if (!bytes) {
      wrong(key, "is " + std::string(io::name(*storage)) + to_string(e.spec.shape) +
                     ", which fills no whole bytes, or more than 63 bits count");
    }
    if (e.begin > e.end || e.end - e.begin != *bytes) {
      wrong(key, "has data_offsets " + to_string(offsets) + ", where " +
                     std::string(io::name(*storage)) + to_string(e.spec.shape) + " takes " +
                     std::to_string(*bytes) + " bytes");
    }
    return e;
  }

 private:
  [[noreturn]] void wrong(std::string_view key, const std::string& what) const {
    refuse(name_, "tensor " + json_quoted(key) + " " + what);
  }
  Extents sizes(std::string_view key, json::string_view field, const json::object& object) const {
    const json::value& v = object.at(field);
    if (!v.is_array()) wrong(key, "has a " + std::string(field) + " that is no list");
    Extents sizes;
    for (const json::value& size : v.get_array()) {
      // An integer that 63 bits don't hold is no int64.
      if (!size.is_int64() || size.get_int64() < 0) {
        wrong(key, "has a " + std::string(field) + " with what is no size");
      }
      sizes.push_back(size.get_int64());
    }
    return sizes;
  }

  const std::string& name_;
};

Safetensors open_file(const std::string& path) {
  const auto file = MappedFile::open("safetensors", path);
  return parse_safetensors(file->bytes(), file, path);
}

}  // namespace

Safetensors parse_safetensors(std::span<const std::byte> file,
                              const std::shared_ptr<const void>& owner, const std::string& name) {
  std::uint64_t length = 0;
  if (file.size() < sizeof length) refuse(name, "this is no safetensors file");
  std::memcpy(&length, file.data(), sizeof length);
  if (length > kMaxHeader) {
    refuse_others(file, name);
    refuse(name, "a header of " + std::to_string(length) + " bytes, where at most " +
                     std::to_string(kMaxHeader) + " are read; this may be no safetensors file");
  }
  if (length > file.size() - sizeof length) refuse(name, "the header is cut off");
  const std::span<const std::byte> content = file.subspan(sizeof length + length);
  const json::value root =
      parse_json(text_of(file.subspan(sizeof length, length)), name + " (header)", kHeaderLimits);
  if (!root.is_object()) refuse(name, "the header is no object");

  const Header header(name);
  Safetensors result;
  std::vector<Header::Entry> entries;
  entries.reserve(root.get_object().size());
  for (const auto& [key, value] : root.get_object()) {
    if (key == "__metadata__") {
      result.metadata = header.metadata(value);
    } else {
      entries.push_back(header.entry(view(key), value));
    }
  }
  std::stable_sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::vector<Tensor> tensors;
  tensors.reserve(entries.size());
  std::int64_t at = 0;
  const auto size = static_cast<std::int64_t>(content.size());
  for (Header::Entry& e : entries) {
    const std::string tensor = "tensor " + json_quoted(e.spec.name);
    if (e.begin < at) refuse(name, tensor + " overlaps the one before it");
    if (e.begin > at) {
      refuse(name, "no tensor has the bytes from " + std::to_string(at) + " to " +
                       std::to_string(e.begin));
    }
    if (e.end > size) {
      refuse(name, tensor + " ends at byte " + std::to_string(e.end) + " of " +
                       std::to_string(size) + ": the file is cut off");
    }
    tensors.push_back(
        {std::move(e.spec), content.subspan(usize(e.begin), usize(e.end - e.begin)), owner});
    at = e.end;
  }
  if (at < size) {
    refuse(name, "no tensor has the last " + std::to_string(size - at) + " bytes");
  }
  result.tensors = TensorFile("TL-SAFETENSORS-001", name, std::move(tensors));
  return result;
}

Safetensors parse_safetensors_index(std::string_view text, const ShardSource& source,
                                    const std::string& name) {
  auto refuse = [&](const std::string& message) {
    throw UserError(
        {"TL-SAFETENSORS-003", "safetensors", name + message, "get the files anew", {}});
  };
  const json::value index = parse_json(text, name);
  const json::value* map =
      index.is_object() ? index.get_object().if_contains("weight_map") : nullptr;
  if (!map || !map->is_object()) refuse(" has no object weight_map");
  std::map<std::string, std::vector<std::string_view>> shards;  // names in each, sorted by file
  for (const auto& [tensor, shard] : map->get_object()) {
    if (!shard.is_string()) refuse(": " + json_quoted(view(tensor)) + " lies in what is no file");
    const std::string file(shard.get_string());
    // A name that leads elsewhere would have other files of this machine read.
    if (file.empty() || file == "." || file == ".." ||
        file.find_first_of(std::string_view("/\0", 2)) != file.npos) {
      refuse(": " + json_quoted(file) + " is no file beside it");
    }
    if (file.ends_with(kIndexSuffix)) {
      refuse(": " + json_quoted(file) + " is an index, where a shard is due");
    }
    shards[file].push_back(view(tensor));
  }
  Safetensors all;
  std::vector<Tensor> tensors;
  for (const auto& [file, names] : shards) {
    Safetensors shard = source(file);
    if (tensors.empty()) all.metadata = shard.metadata;
    std::vector<const Tensor*> wanted;
    for (std::string_view tensor : names) {
      wanted.push_back(shard.tensors.find(tensor));
      if (!wanted.back()) refuse(": tensor " + json_quoted(tensor) + " is not in " + file);
    }
    std::sort(wanted.begin(), wanted.end());
    for (const Tensor* t : wanted) tensors.push_back(*t);
  }
  all.tensors = TensorFile("TL-SAFETENSORS-003", name, std::move(tensors));
  return all;
}

Safetensors open_safetensors(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    const fs::path one = fs::path(path) / "model.safetensors";
    const fs::path index = fs::path(path) / "model.safetensors.index.json";
    const bool sharded = fs::exists(index, error);
    if (sharded && fs::exists(one, error)) {
      throw UserError({"TL-SAFETENSORS-003",
                       "safetensors",
                       path + " has two models, " + one.filename().string() + " and " +
                           index.filename().string(),
                       "give the path of the one to read, or remove the other",
                       {}});
    }
    return open_safetensors((sharded ? index : one).string());
  }
  if (!path.ends_with(kIndexSuffix)) return open_file(path);
  // A shard is a file: an index among them would have others opened, without end.
  auto shard = [&](const std::string& file) {
    return open_file((fs::path(path).parent_path() / file).string());
  };
  return parse_safetensors_index(text_of(MappedFile::open("safetensors", path)->bytes()), shard,
                                 path);
}

}  // namespace tlaloc::io
