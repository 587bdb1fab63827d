#include "tlaloc/io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "tlaloc/base/error.h"

namespace tlaloc::io {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint32_t kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
constexpr std::size_t kEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr std::uint64_t kLimit16 = 0xffff, kLimit32 = 0xffffffff;  // "see ZIP64" where one of these
/// What one deflate takes: packed, it may be some megabytes longer.
constexpr std::uint64_t kMaxContent = kLimit32 - (4u << 20);
constexpr std::uint16_t kStored = 0, kDeflated = 8;
/// Deflate makes at most 1032 bytes of one: 258 of each two bits, with headers.
constexpr std::uint64_t kMaxRatio = 1032;

[[noreturn]] void refuse(const std::string& name, const std::string& message) {
  throw UserError(
      {"TL-ZIP-001", "zip", name + ": " + message, "save the file anew, or get it anew", {}});
}

template <class T>
T number_at(std::span<const std::byte> bytes, std::size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

class Archive {
 public:
  Archive(std::span<const std::byte> file, const std::string& name) : file_(file), name_(name) {}

  std::vector<ZipEntry> entries() {
    find_directory();
    std::vector<ZipEntry> entries;
    std::size_t at = static_cast<std::size_t>(directory_);
    for (std::uint64_t i = 0; i < count_; ++i) entries.push_back(entry(at));
    check_overlaps(entries);
    return entries;
  }

 private:
  /// So many bytes from `at`.
  std::span<const std::byte> part(std::uint64_t at, std::uint64_t bytes) const {
    if (at > file_.size() || bytes > file_.size() - at) refuse(name_, "it is cut off");
    return file_.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(bytes));
  }

  void find_directory() {
    // A comment of up to 64 kB may follow the end's record.
    std::optional<std::size_t> end;
    for (std::size_t back = kEndBytes; back <= file_.size() && back <= kEndBytes + kLimit16;
         ++back) {
      const std::size_t at = file_.size() - back;
      if (number_at<std::uint32_t>(file_, at) != kEnd) continue;
      if (number_at<std::uint16_t>(file_, at + 20) != back - kEndBytes) continue;
      end = at;
      break;
    }
    if (!end) refuse(name_, "it is no ZIP archive, or is cut off");
    count_ = number_at<std::uint16_t>(file_, *end + 10);
    directory_ = number_at<std::uint32_t>(file_, *end + 16);
    if (count_ == kLimit16 || directory_ == kLimit32) find_directory64(*end);
    if (directory_ > *end || count_ > (*end - directory_) / kCentralBytes) {
      refuse(name_, "its directory does not fit");
    }
  }
  void find_directory64(std::size_t end) {
    if (end < kLocator64Bytes) refuse(name_, "its directory does not fit");
    const auto locator = part(end - kLocator64Bytes, kLocator64Bytes);
    if (number_at<std::uint32_t>(locator, 0) != kLocator64) return;
    const auto end64 = part(number_at<std::uint64_t>(locator, 8), kEnd64Bytes);
    if (number_at<std::uint32_t>(end64, 0) != kEnd64) refuse(name_, "its directory does not fit");
    count_ = number_at<std::uint64_t>(end64, 32);
    directory_ = number_at<std::uint64_t>(end64, 48);
  }

  ZipEntry entry(std::size_t& at) {
    const auto head = part(at, kCentralBytes);
    if (number_at<std::uint32_t>(head, 0) != kCentral) refuse(name_, "its directory is damaged");
    const auto flags = number_at<std::uint16_t>(head, 8),
               method = number_at<std::uint16_t>(head, 10);
    const auto name_bytes = number_at<std::uint16_t>(head, 28);
    const auto extra_bytes = number_at<std::uint16_t>(head, 30);
    const auto comment_bytes = number_at<std::uint16_t>(head, 32);
    const auto text = part(at + kCentralBytes, name_bytes);
    const auto extra = part(at + kCentralBytes + name_bytes, extra_bytes);
    at += kCentralBytes + name_bytes + extra_bytes + comment_bytes;

    ZipEntry e;
    e.name.assign(reinterpret_cast<const char*>(text.data()), text.size());
    e.crc = number_at<std::uint32_t>(head, 16);
    e.deflated = method == kDeflated;
    if (flags & 1) refuse(name_, "entry '" + e.name + "' is encrypted");
    if (method != kStored && method != kDeflated) {
      refuse(name_, "entry '" + e.name + "' is packed by method " + std::to_string(method) +
                        ", where stored and deflated ones are read");
    }
    std::uint64_t fields[3] = {number_at<std::uint32_t>(head, 24),
                               number_at<std::uint32_t>(head, 20),
                               number_at<std::uint32_t>(head, 42)};
    widen(fields, extra);
    const auto [size, packed, place] = fields;
    e.size = size;
    // Names and extras of the local header have their own lengths.
    const auto local = part(place, kLocalBytes);
    if (number_at<std::uint32_t>(local, 0) != kLocal)
      refuse(name_, "'" + e.name + "' is not there");
    const std::uint64_t begin = place + kLocalBytes + number_at<std::uint16_t>(local, 26) +
                                number_at<std::uint16_t>(local, 28);
    e.packed = part(begin, packed);
    if (e.deflated ? size / kMaxRatio > packed : size != packed) {
      refuse(name_, "entry '" + e.name + "' has " + std::to_string(packed) +
                        " bytes, which don't " + "unpack to " + std::to_string(size));
    }
    return e;
  }
  /// The ZIP64 extra has those of the fields that 32 bits don't hold, in this order.
  void widen(std::uint64_t (&fields)[3], std::span<const std::byte> extra) const {
    while (extra.size() >= 4) {
      const auto id = number_at<std::uint16_t>(extra, 0),
                 bytes = number_at<std::uint16_t>(extra, 2);
      extra = extra.subspan(4);
      if (bytes > extra.size()) refuse(name_, "its directory is damaged");
      std::span<const std::byte> values = extra.first(bytes);
      extra = extra.subspan(bytes);
      if (id != 1) continue;
      for (std::uint64_t& field : fields) {
        if (field != kLimit32 || values.size() < 8) continue;
        field = number_at<std::uint64_t>(values, 0);
        values = values.subspan(8);
      }
    }
  }

  void check_overlaps(const std::vector<ZipEntry>& entries) const {
    std::vector<const ZipEntry*> by_place;
    for (const ZipEntry& e : entries) {
      if (!e.packed.empty()) by_place.push_back(&e);
    }
    std::sort(by_place.begin(), by_place.end(), [](const ZipEntry* a, const ZipEntry* b) {
      return a->packed.data() < b->packed.data();
    });
    for (std::size_t i = 1; i < by_place.size(); ++i) {
      const auto before = by_place[i - 1]->packed;
      if (before.data() + before.size() > by_place[i]->packed.data()) {
        refuse(name_,
               "entries '" + by_place[i - 1]->name + "' and '" + by_place[i]->name + "' overlap");
      }
    }
  }

  std::span<const std::byte> file_;
  const std::string& name_;
  std::uint64_t count_ = 0, directory_ = 0;
};

/// zlib takes at most 4 GB at a time.
uInt chunk(std::size_t bytes) {
  return static_cast<uInt>(std::min<std::size_t>(bytes, std::numeric_limits<uInt>::max()));
}
/// zlib does not write where it reads, but some of its types say so.
Bytef* bytes_of(const std::byte* p) {
  return const_cast<Bytef*>(reinterpret_cast<const Bytef*>(p));
}

std::uint32_t crc_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, bytes_of(bytes.data()), bytes.size()));
}

/// What all of `from` makes; nothing where that is not `size` bytes. What `from` claims to make is
/// never allocated before it is made, but for four times its own size, which most content is below.
std::optional<std::vector<std::byte>> inflate_all(std::span<const std::byte> from,
                                                  std::size_t size) {
  z_stream z = {};
  if (inflateInit2(&z, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&z, inflateEnd);
  std::vector<std::byte> to(std::min(size, 4 * from.size()));
  std::size_t taken = 0, made = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    if (made == to.size()) to.resize(std::min(size, 2 * made));
    z.next_in = bytes_of(from.data() + taken);
    z.avail_in = chunk(from.size() - taken);
    std::byte nothing;  // zlib takes no null pointer
    z.next_out = bytes_of(to.empty() ? &nothing : to.data() + made);
    z.avail_out = chunk(to.size() - made);
    const uInt given = z.avail_in, room = z.avail_out;
    state = inflate(&z, Z_NO_FLUSH);
    taken += given - z.avail_in;
    made += room - z.avail_out;
  }
  if (state != Z_STREAM_END || taken != from.size() || made != size) return std::nullopt;
  return to;
}

std::vector<std::byte> deflate_all(std::span<const std::byte> from) {
  z_stream z = {};
  internal_check(deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                              Z_DEFAULT_STRATEGY) == Z_OK,
                 "deflateInit2 failed");
  std::vector<std::byte> to(deflateBound(&z, from.size()));
  z.next_in = bytes_of(from.data());
  z.avail_in = chunk(from.size());
  z.next_out = bytes_of(to.data());
  z.avail_out = chunk(to.size());
  const int state = deflate(&z, Z_FINISH);
  deflateEnd(&z);
  internal_check(state == Z_STREAM_END, "deflate failed");
  to.resize(to.size() - z.avail_out);
  return to;
}

template <class T>
void append(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::vector<ZipEntry> read_zip(std::span<const std::byte> file, const std::string& name) {
  return Archive(file, name).entries();
}

std::vector<std::byte> unpack(const ZipEntry& entry, const std::string& name) try {
  std::optional<std::vector<std::byte>> content;
  if (entry.deflated) {
    content = inflate_all(entry.packed, static_cast<std::size_t>(entry.size));
  } else {
    content.emplace(entry.packed.begin(), entry.packed.end());
  }
  if (!content || crc_of(*content) != entry.crc) {
    refuse(name, "entry '" + entry.name + "' is damaged");
  }
  return std::move(*content);
} catch (const std::bad_alloc&) {
  throw EnvironmentError({"TL-MEM-001",
                          "zip",
                          name + ": could not allocate memory to unpack the " +
                              std::to_string(entry.size) + " bytes of entry '" + entry.name + "'",
                          "free memory",
                          {}});
}

void ZipWriter::write(const std::string& bytes) {
  file_.write(std::as_bytes(std::span(bytes)));
  at_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::span<const std::byte> content, bool deflated) {
  auto refuse_above = [&](bool above) {
    if (!above) return;
    throw UserError({"TL-ZIP-002",
                     "zip",
                     "with '" + name +
                         "' the archive is above 4 GB, or has "
                         "more than 65534 entries",
                     "use several files, or safetensors",
                     {}});
  };
  refuse_above(entries_ + 1 >= kLimit16 || name.size() > kLimit16 || content.size() > kMaxContent);
  std::vector<std::byte> buffer;
  std::span<const std::byte> packed = content;
  if (deflated) packed = buffer = deflate_all(content);
  refuse_above(at_ + packed.size() + directory_.size() + 2 * name.size() >= kLimit32 - 1000);

  // What both headers have: version 2.0, names are UTF-8, the method, the first day there is.
  std::string common;
  append<std::uint16_t>(common, 20);
  append<std::uint16_t>(common, 1 << 11);
  append<std::uint16_t>(common, deflated ? kDeflated : kStored);
  append<std::uint16_t>(common, 0);
  append<std::uint16_t>(common, 1 << 5 | 1);
  append(common, crc_of(content));
  append(common, static_cast<std::uint32_t>(packed.size()));
  append(common, static_cast<std::uint32_t>(content.size()));
  append(common, static_cast<std::uint16_t>(name.size()));
  append<std::uint16_t>(common, 0);  // extra
  std::string local;
  append(local, kLocal);
  local.append(common).append(name);

  append(directory_, kCentral);
  append<std::uint16_t>(directory_, 20);
  directory_ += common;
  append<std::uint16_t>(directory_, 0);               // comment
  append<std::uint16_t>(directory_, 0);               // disk
  append<std::uint16_t>(directory_, 0);               // internal attributes
  append<std::uint32_t>(directory_, 0100644u << 16);  // a file that its owner writes
  append(directory_, static_cast<std::uint32_t>(at_));
  directory_ += name;

  write(local);
  file_.write(packed);
  at_ += packed.size();
  ++entries_;
}

void ZipWriter::finish() {
  const auto start = static_cast<std::uint32_t>(at_);
  const auto count = static_cast<std::uint16_t>(entries_);
  std::string end = directory_;
  append(end, kEnd);
  append<std::uint32_t>(end, 0);  // disks
  append(end, count);
  append(end, count);
  append(end, static_cast<std::uint32_t>(directory_.size()));
  append(end, start);
  append<std::uint16_t>(end, 0);  // comment
  write(end);
}

}  // namespace tlaloc::io
