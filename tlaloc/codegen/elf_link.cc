#include "tlaloc/codegen/elf_link.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>

#include "tlaloc/base/error.h"

namespace tlaloc::codegen {
namespace {

/// Some callers look at the bytes before a function: Clang's -fsanitize=function reads eight.
constexpr std::uint64_t kLead = 16;
constexpr std::byte kTrap{0xcc};  // int3
/// Relative relocations have 32 bits.
constexpr std::uint64_t kMaxSize = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t kMaxName = 1000;

class Linker {
 public:
  Linker(std::span<const std::byte> object, std::string_view name) : object_(object), name_(name) {}

  FlatImage link() {
    read_sections();
    lay_out();
    read_symbols();
    for (const Elf64_Shdr& section : sections_)
      if (section.sh_type == SHT_RELA || section.sh_type == SHT_REL) relocate(section);
    if (!missing_.empty())
      refuse("it needs {}, and calls can leave the code only through a pointer that is passed in",
             fmt::join(missing_, ", "));
    add_entries();
    return std::move(image_);
  }

 private:
  template <typename... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) const {
    throw InternalError(fmt::format("the code of {} can't be linked: {}", name_,
                                    fmt::format(format, std::forward<Args>(args)...)));
  }

  std::span<const std::byte> range(std::uint64_t offset, std::uint64_t size) const {
    if (offset > object_.size() || size > object_.size() - offset)
      refuse("the object file is truncated");
    return object_.subspan(offset, size);
  }
  template <typename T>
  T read(std::uint64_t offset) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, range(offset, sizeof value).data(), sizeof value);
    return value;
  }
  /// The zero-terminated text at `offset` of a string table.
  std::string_view text(const Elf64_Shdr& table, std::uint64_t offset) const {
    const auto bytes = range(table.sh_offset, table.sh_size);
    if (offset >= bytes.size()) refuse("a name lies outside of its table");
    const char* start = reinterpret_cast<const char*>(bytes.data()) + offset;
    const std::size_t length = strnlen(start, bytes.size() - offset);
    if (length > kMaxName) refuse("a name is longer than {}", kMaxName);
    return {start, length};
  }
  const Elf64_Shdr& section(std::uint64_t index) const {
    if (index >= sections_.size()) refuse("there is no section {}", index);
    return sections_[index];
  }

  void read_sections() {
    const auto header = read<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_type != ET_REL || header.e_machine != EM_X86_64 ||
        header.e_shentsize != sizeof(Elf64_Shdr))
      refuse("not a relocatable ELF64 object for x86-64");
    range(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr));
    for (std::uint64_t i = 0; i < header.e_shnum; ++i)
      sections_.push_back(read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr)));
    names_ = section(header.e_shstrndx);
    places_.resize(sections_.size());
  }

  /// Code first, then constants.
  void lay_out() {
    image_.bytes.assign(kLead, kTrap);
    for (const bool code : {true, false})
      for (std::size_t i = 0; i < sections_.size(); ++i)
        if (const Elf64_Shdr& s = sections_[i]; ((s.sh_flags & SHF_EXECINSTR) != 0) == code)
          place(s, places_[i]);
  }
  void place(const Elf64_Shdr& section, std::optional<std::uint64_t>& place) {
    // Unwinding tables are dropped: no exception passes through the code. So are notes.
    if ((section.sh_flags & SHF_ALLOC) == 0 || section.sh_size == 0 ||
        section.sh_type == SHT_X86_64_UNWIND || section.sh_type == SHT_NOTE)
      return;
    if ((section.sh_flags & (SHF_WRITE | SHF_TLS)) != 0 || section.sh_type != SHT_PROGBITS)
      refuse("section {} is not constant", text(names_, section.sh_name));
    const std::uint64_t alignment = std::max<std::uint64_t>(section.sh_addralign, 1);
    if (!std::has_single_bit(alignment) || alignment > kMaxAlignment)
      refuse("section {} is aligned to {}", text(names_, section.sh_name), alignment);
    std::vector<std::byte>& bytes = image_.bytes;
    const auto content = range(section.sh_offset, section.sh_size);
    content_ += content.size();
    if (content_ > object_.size()) refuse("its sections overlap");
    place = (bytes.size() + alignment - 1) & ~(alignment - 1);
    if (*place + content.size() > kMaxSize) refuse("it has more than {} bytes", kMaxSize);
    bytes.resize(*place, kTrap);
    bytes.insert(bytes.end(), content.begin(), content.end());
  }

  void read_symbols() {
    for (const Elf64_Shdr& s : sections_) {
      if (s.sh_type != SHT_SYMTAB) continue;
      if (!symbols_.empty()) refuse("it has two tables of symbols");
      range(s.sh_offset, s.sh_size);
      for (std::uint64_t i = 0; i < s.sh_size / sizeof(Elf64_Sym); ++i)
        symbols_.push_back(read<Elf64_Sym>(s.sh_offset + i * sizeof(Elf64_Sym)));
      symbol_names_ = section(s.sh_link);
    }
  }
  /// Where the symbol lies in the image, if it does.
  std::optional<std::uint64_t> place_of(const Elf64_Sym& symbol) const {
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) return std::nullopt;
    const Elf64_Shdr& home = section(symbol.st_shndx);
    const auto& place = places_[symbol.st_shndx];
    if (!place || symbol.st_value > home.sh_size) return std::nullopt;
    return *place + symbol.st_value;
  }

  void relocate(const Elf64_Shdr& table) {
    const Elf64_Shdr& target = section(table.sh_info);
    const auto& place = places_[table.sh_info];
    if (!place) return;
    if (table.sh_type == SHT_REL) refuse("its relocations have no addends");
    range(table.sh_offset, table.sh_size);
    for (std::uint64_t i = 0; i < table.sh_size / sizeof(Elf64_Rela); ++i) {
      const auto rela = read<Elf64_Rela>(table.sh_offset + i * sizeof(Elf64_Rela));
      if (rela.r_offset > target.sh_size) refuse("a relocation lies outside of its section");
      apply(rela, *place + rela.r_offset, target.sh_size - rela.r_offset);
    }
  }
  /// `room`: how many bytes of the section follow `at`.
  void apply(const Elf64_Rela& rela, std::uint64_t at, std::uint64_t room) {
    const std::uint64_t index = ELF64_R_SYM(rela.r_info), type = ELF64_R_TYPE(rela.r_info);
    if (index >= symbols_.size()) refuse("there is no symbol {}", index);
    const Elf64_Sym& symbol = symbols_[index];
    const auto to = place_of(symbol);
    if (!to) {
      missing_.emplace(symbol.st_name == 0 ? "a section that is left out"
                                           : text(symbol_names_, symbol.st_name));
      return;
    }
    // Wraps as the loader's arithmetic does; the range check below is on the result.
    const auto delta =
        static_cast<std::int64_t>(*to + static_cast<std::uint64_t>(rela.r_addend) - at);
    if (type == R_X86_64_PC32 || type == R_X86_64_PLT32) {
      if (delta != static_cast<std::int32_t>(delta)) refuse("a relocation is out of range");
      write(at, room, static_cast<std::int32_t>(delta));
    } else if (type == R_X86_64_PC64) {
      write(at, room, delta);
    } else {
      refuse("it has a relocation of type {}{}, which is not relative", type,
             symbol.st_name == 0 ? "" : fmt::format(" to {}", text(symbol_names_, symbol.st_name)));
    }
  }
  template <typename T>
  void write(std::uint64_t at, std::uint64_t room, T value) {
    if (room < sizeof value) refuse("a relocation lies outside of its section");
    std::memcpy(image_.bytes.data() + at, &value, sizeof value);
  }

  void add_entries() {
    for (const Elf64_Sym& symbol : symbols_) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL)
        continue;
      if (const auto place = place_of(symbol))
        image_.entries.push_back({std::string(text(symbol_names_, symbol.st_name)), *place});
    }
    std::ranges::sort(image_.entries, {}, &FlatImage::Entry::name);
  }

  std::span<const std::byte> object_;
  std::string_view name_;
  std::vector<Elf64_Shdr> sections_;
  std::vector<std::optional<std::uint64_t>> places_;  // of sections, in the image
  std::uint64_t content_ = 0;                         // bytes of all that have one
  std::vector<Elf64_Sym> symbols_;
  Elf64_Shdr names_{}, symbol_names_{};
  std::set<std::string, std::less<>> missing_;
  FlatImage image_;
};

}  // namespace

FlatImage link_object(std::span<const std::byte> object, std::string_view name) {
  return Linker(object, name).link();
}

}  // namespace tlaloc::codegen
