#include "tlaloc/codegen/elf_link.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/codegen/llvm.h"
#include "tlaloc/codegen/testing.h"

namespace tlaloc::codegen {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

FlatImage link(std::string_view ir) { return link_object(compile(request(ir)).object, "test"); }

auto refused(std::string_view text) {
  return ThrowsMessage<InternalError>(HasSubstr(std::string(text)));
}

constexpr std::string_view kTwo = R"(
@table = constant [3 x i64] [i64 11, i64 22, i64 33], align 64
define i64 @second(i64 %i) {
  %p = getelementptr i64, ptr @table, i64 %i
  %v = load i64, ptr %p
  ret i64 %v
}
define i64 @first(i64 %i) {
  %v = call i64 @second(i64 %i)
  %w = call i64 @helper(i64 %v)
  ret i64 %w
}
define internal i64 @helper(i64 %i) noinline {
  %v = mul i64 %i, %i
  ret i64 %v
}
)";

TEST(LinkObject, EntriesAreTheGlobalFunctionsByName) {
  const FlatImage image = link(kTwo);
  EXPECT_THAT(image.entries, ElementsAre(Field(&FlatImage::Entry::name, "first"),
                                         Field(&FlatImage::Entry::name, "second")));
  // Whoever looks at the eight bytes before a function must find some.
  for (const auto& entry : image.entries) EXPECT_GE(entry.offset, 8U);
  // The constants, aligned as declared.
  const std::int64_t table[] = {11, 22, 33};
  const std::string_view bytes(reinterpret_cast<const char*>(image.bytes.data()),
                               image.bytes.size());
  const std::size_t at = bytes.find({reinterpret_cast<const char*>(table), sizeof table});
  EXPECT_NE(at, std::string_view::npos);
  EXPECT_EQ(at % 64, 0U);
}

TEST(LinkObject, NamesAllThatIsMissing) {
  EXPECT_THAT(
      [] {
        link(R"(
declare double @llvm.sin.f64(double)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
@elsewhere = external global i64
define double @f(double %x, ptr %p, ptr %q, i64 %n) {
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)
  %k = load i64, ptr @elsewhere
  store i64 %k, ptr %p
  %y = call double @llvm.sin.f64(double %x)
  ret double %y
}
)");
      },
      refused("the code of test can't be linked: it needs elsewhere, memcpy, sin, and calls can "
              "leave"));
}

TEST(LinkObject, StateIsRefused) {
  EXPECT_THAT([] { link("@count = global i64 1\n"); }, refused("section .data is not constant"));
  EXPECT_THAT([] { link("@count = global i64 0\n"); }, refused("section .bss is not constant"));
  EXPECT_THAT([] { link("@count = thread_local global i64 0\n"); },
              refused("section .tbss is not constant"));
}

TEST(LinkObject, AbsoluteAddressesAreRefused) {
  EXPECT_THAT([] { link("@x = constant i64 1\n@p = constant ptr @x\n"); },
              refused("section .data.rel.ro is not constant"));
  EXPECT_THAT(
      [] {
        link(
            "define ptr @f() {\n  %p = call ptr asm \"movabsq $$f, $0\", \"=r\"()\n  ret ptr "
            "%p\n}\n");
      },
      refused("it has a relocation of type 1 to f, which is not relative"));
}

TEST(LinkObject, AlignmentBeyondAPageIsRefused) {
  EXPECT_THAT([] { link("@x = constant i64 1, align 8192\n"); },
              refused("section .rodata is aligned to 8192"));
}

TEST(LinkObject, OtherFilesAreRefused) {
  EXPECT_THAT([] { link_object({}, "test"); }, refused("the object file is truncated"));
  auto object = compile(request(kTwo)).object;
  object[EI_CLASS] = std::byte{ELFCLASS32};
  EXPECT_THAT([&] { link_object(object, "test"); },
              refused("not a relocatable ELF64 object for x86-64"));
}

/// An object to damage, as linkers see it.
struct Object {
  std::vector<std::byte> bytes = compile(request(kTwo)).object;

  template <typename T>
  T* at(std::uint64_t offset) {
    return reinterpret_cast<T*>(bytes.data() + offset);
  }
  Elf64_Shdr& section(std::string_view name) {
    const auto& header = *at<Elf64_Ehdr>(0);
    auto* sections = at<Elf64_Shdr>(header.e_shoff);
    const std::uint64_t names = sections[header.e_shstrndx].sh_offset;
    for (int i = 0; i < header.e_shnum; ++i)
      if (at<char>(names + sections[i].sh_name) == name) return sections[i];
    throw InternalError("no such section");
  }
  Elf64_Rela& relocation() { return *at<Elf64_Rela>(section(".rela.text").sh_offset); }
  Elf64_Sym& symbol(std::uint64_t index) {
    return at<Elf64_Sym>(section(".symtab").sh_offset)[index];
  }
};

TEST(LinkObject, ContradictionsAreRefused) {
  const auto damaged = [](auto&& damage) {
    Object object;
    damage(object);
    return [bytes = object.bytes] { link_object(bytes, "test"); };
  };
  EXPECT_THAT(damaged([](Object& o) { o.section(".text").sh_type = SHT_NOBITS; }),
              refused("section .text is not constant"));
  EXPECT_THAT(damaged([](Object& o) {
                o.section(".text").sh_offset = 0;
                o.section(".text").sh_size = o.bytes.size();
              }),
              refused("its sections overlap"));
  EXPECT_THAT(damaged([](Object& o) { o.section(".symtab").sh_type = SHT_PROGBITS; }),
              refused("there is no symbol "));
  EXPECT_THAT(damaged([](Object& o) { o.section(".rela.text").sh_type = SHT_REL; }),
              refused("its relocations have no addends"));
  for (const std::uint64_t beyond : {1, -1, -3})  // the third leaves room for three bytes
    EXPECT_THAT(
        damaged([&](Object& o) { o.relocation().r_offset = o.section(".text").sh_size + beyond; }),
        refused("a relocation lies outside of its section"));
  EXPECT_THAT(damaged([](Object& o) {
                o.symbol(ELF64_R_SYM(o.relocation().r_info)).st_value = std::uint64_t{1} << 40;
              }),
              refused("it needs "));
  EXPECT_THAT(damaged([](Object& o) { o.relocation().r_addend = std::int64_t{1} << 40; }),
              refused("a relocation is out of range"));
  EXPECT_THAT(damaged([](Object& o) {
                for (int i = 0; i < 2000; ++i) o.bytes.push_back(std::byte{'x'});
                o.section(".strtab").sh_size = o.bytes.size() - o.section(".strtab").sh_offset;
                for (std::uint64_t i = 1; i * sizeof(Elf64_Sym) < o.section(".symtab").sh_size; ++i)
                  o.symbol(i).st_name =
                      static_cast<Elf64_Word>(o.section(".strtab").sh_size - 1500);
              }),
              refused("a name is longer than 1000"));
}

TEST(LinkObject, EveryTruncationIsRefused) {
  const auto object = compile(request(kTwo)).object;
  for (std::size_t size = 0; size < object.size(); ++size)
    EXPECT_THROW(link_object(std::span(object).first(size), "test"), InternalError) << size;
}

/// Each byte of the object in turn is inverted: an error or an image, no crash and no other
/// exception.
TEST(LinkObject, AnyByteMayBeWrong) {
  auto object = compile(request(kTwo)).object;
  std::size_t refusals = 0;
  for (std::byte& byte : object) {
    byte = ~byte;
    try {
      link_object(object, "test");
    } catch (const InternalError&) {
      ++refusals;
    }
    byte = ~byte;
  }
  EXPECT_GT(refusals, 0U);
}

}  // namespace
}  // namespace tlaloc::codegen
