// Files that are read in place, and files that are written whole or not at all.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tlaloc {

struct FileContent {
  std::string path;
  std::span<const std::byte> bytes;
};

/// Writes all files; where one can't be written, none is changed or left behind: what can fail
/// after that is to move one into its place. EnvironmentError TL-FILE-001, from `caller`; UserError
/// TL-FILE-002 where two of them are one file.
void write_files(const char* caller, const std::vector<FileContent>& files);

/// A file that is written piece by piece and appears when all of it is there: until `put` its
/// content lies beside it under another name, and goes away with this object. A file that it
/// replaces leaves its mode; other hard links to it keep the old content. What is no regular file,
/// such as /dev/stdout, is written to at once. EnvironmentError TL-FILE-001, from `caller`.
class NewFile {
 public:
  NewFile(const char* caller, const std::string& path);
  NewFile(NewFile&& other) noexcept;
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  NewFile& operator=(NewFile&&) = delete;
  ~NewFile();

  void write(std::span<const std::byte> bytes);
  /// All bytes written are on the disk: whatever happens after `put`, it leaves no part of a file.
  void close();
  /// Closes, and puts the content in the file's place.
  void put();
  /// Whether it is no regular file, so that what is written is there at once.
  bool at_once() const { return part_.empty(); }

 private:
  [[noreturn]] void fail(int error) const;
  /// `permissions` of the file that is replaced.
  void create_part(std::optional<std::filesystem::perms> permissions);
  const char* caller_;
  std::string path_;    ///< as the caller says
  std::string target_;  ///< where links lead
  std::string part_;    ///< where the content is until `put`; empty for what is no regular file
  int descriptor_ = -1;
};

/// Puts all in their places once all of them are on the disk.
void put_files(std::vector<NewFile>& files);

/// A file in memory, read only, as the system pages it in.
class MappedFile {
 public:
  /// EnvironmentError TL-FILE-001, from `caller`, where it can't be read or is no regular file.
  static std::shared_ptr<const MappedFile> open(const char* caller, const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  const std::string& path() const { return path_; }
  /// A process that reads what another has cut off meanwhile is ended by the system (SIGBUS).
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  MappedFile(std::string path, std::span<const std::byte> bytes)
      : path_(std::move(path)), bytes_(bytes) {}
  std::string path_;
  std::span<const std::byte> bytes_;
};

}  // namespace tlaloc
