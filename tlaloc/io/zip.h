// The parts of ZIP archives that .npz files have: stored and deflated entries, ZIP64 when read.
// Format: PKWARE's APPNOTE.TXT 6.3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/base/files.h"

namespace tlaloc::io {

struct ZipEntry {
  std::string name;
  bool deflated = false;
  std::uint32_t crc = 0;
  std::uint64_t size = 0;  ///< of the content, as the archive claims; up to 1032 times `packed`
  std::span<const std::byte> packed;
};

/// The archive's entries; their bytes don't overlap, so that together they unpack to at most some
/// thousand times the file. UserError TL-ZIP-001 for what is no such archive, or has entries that
/// are encrypted or packed in another way.
std::vector<ZipEntry> read_zip(std::span<const std::byte> file, const std::string& name);
/// The entry's content. UserError TL-ZIP-001 where it is not what the archive says, whose claims
/// take no memory; EnvironmentError TL-MEM-001.
std::vector<std::byte> unpack(const ZipEntry& entry, const std::string& name);

/// Writes an archive entry by entry.
class ZipWriter {
 public:
  explicit ZipWriter(NewFile& file) : file_(file) {}
  /// UserError TL-ZIP-002 where the archive gets above 4 GB, or 65534 entries.
  void add(const std::string& name, std::span<const std::byte> content, bool deflated);
  /// Writes what follows the entries.
  void finish();

 private:
  void write(const std::string& bytes);
  NewFile& file_;
  std::uint64_t at_ = 0;
  std::size_t entries_ = 0;
  std::string directory_;
};

}  // namespace tlaloc::io
