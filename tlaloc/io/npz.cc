#include <unordered_set>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/base/utf8.h"
#include "tlaloc/io/npy.h"
#include "tlaloc/io/zip.h"

namespace tlaloc::io {
namespace {

constexpr std::string_view kSuffix = ".npy";

}  // namespace

NamedArrays parse_npz(std::span<const std::byte> file, const std::string& name) {
  auto refuse = [&](const std::string& entry, const char* what) {
    throw UserError({"TL-NPY-001",
                     "npz",
                     name + ": entry '" + entry + "' " + what,
                     "save the arrays anew with numpy.savez",
                     {}});
  };
  NamedArrays arrays;
  std::unordered_set<std::string> names;
  for (const ZipEntry& e : read_zip(file, name)) {
    if (!e.name.ends_with(kSuffix)) refuse(e.name, "is no array");
    if (!is_utf8(e.name)) refuse(e.name, "has a name that is no UTF-8");
    if (!names.insert(e.name).second) refuse(e.name, "occurs twice");
    arrays.emplace_back(e.name.substr(0, e.name.size() - kSuffix.size()),
                        parse_npy(unpack(e, name), name + ": " + e.name));
  }
  return arrays;
}

NamedArrays read_npz(const std::string& path) {
  const auto file = MappedFile::open("npz", path);
  return parse_npz(file->bytes(), path);
}

void write_npz(const std::string& path, const NamedArrays& arrays, NpzPacking packing) {
  NewFile file("npz", path);
  ZipWriter zip(file);
  std::unordered_set<std::string_view> names;
  for (const auto& [name, array] : arrays) {
    if (!is_utf8(name) || !names.insert(name).second) {
      throw UserError({"TL-NPY-003",
                       "npz",
                       "the name '" + name + "' occurs twice or is no UTF-8",
                       "rename the array",
                       {}});
    }
    zip.add(name + std::string(kSuffix), npy_bytes(array), packing == NpzPacking::deflated);
  }
  zip.finish();
  file.put();
}

}  // namespace tlaloc::io
