#include "tlaloc/cpu/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/testing.h"

namespace tlaloc::cpu {
namespace {

using ::testing::HasSubstr;
using testing::mapping_of;

/// lea eax, [rdi + rdi]; ret, behind eight bytes of int3 as compilers leave them.
CodeImage twice() {
  CodeImage image;
  for (const int byte : {0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x8d, 0x04, 0x3f, 0xc3})
    image.bytes.push_back(static_cast<std::byte>(byte));
  image.entries = {{"twice", 8}};
  return image;
}

#ifdef __x86_64__
TEST(LoadedImage, Runs) {
  const LoadedImage loaded(twice());
  EXPECT_EQ(loaded.function<int(int)>("twice")(21), 42);
  EXPECT_THROW(loaded.function<int(int)>("thrice"), InternalError);
}
#endif

TEST(LoadedImage, IsExecutableAndNotWritable) {
  const LoadedImage loaded(twice());
  EXPECT_THAT(mapping_of(loaded.address("twice")), HasSubstr(" r-xp "));
}

TEST(LoadedImage, IsUnmappedWithTheObject) {
  const void* address = nullptr;
  {
    const LoadedImage loaded(twice());
    address = loaded.address("twice");
  }
  EXPECT_EQ(mapping_of(address), "");
}

TEST(LoadedImage, MayBeEmpty) { EXPECT_THROW(LoadedImage({}).address(""), InternalError); }

/// From here on the system refuses to make memory executable, as hardened systems do.
bool forbid_executable_memory() {
  const auto field = [](std::size_t offset) {
    return sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  };
  sock_filter rules[] = {
      field(offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
      field(offsetof(seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{std::size(rules), rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(LoadedImage, SaysWhenTheSystemForbidsIt) {
  EXPECT_EXIT(
      {
        if (!forbid_executable_memory()) _exit(2);
        try {
          const LoadedImage loaded(twice());
        } catch (const EnvironmentError& e) {
          fputs(e.what(), stderr);
          _exit(0);
        }
        _exit(1);
      },
      ::testing::ExitedWithCode(0),
      "TL-CODEGEN-002: load code: the system refuses to make memory executable: Permission "
      "denied; allow it");
}

TEST(CodeImage, ReadsWhatItWrote) {
  CodeImage image = twice();
  image.entries.push_back({"", 0});
  const auto kept = image.serialize();
  EXPECT_EQ(CodeImage::deserialize(kept), image);
  EXPECT_EQ(CodeImage::deserialize(CodeImage{}.serialize()), CodeImage{});
}

TEST(CodeImage, RefusesWhatItDidNotWrite) {
  const auto kept = twice().serialize();
  for (std::size_t size = 0; size < kept.size(); ++size)
    EXPECT_EQ(CodeImage::deserialize(std::span(kept).first(size)), std::nullopt) << size;
  auto longer = kept;
  longer.push_back(std::byte{0});
  EXPECT_EQ(CodeImage::deserialize(longer), std::nullopt);
  auto huge = kept;
  huge[7] = std::byte{0xff};
  EXPECT_EQ(CodeImage::deserialize(huge), std::nullopt);
  CodeImage outside = twice();
  outside.entries[0].offset = outside.bytes.size();
  EXPECT_EQ(CodeImage::deserialize(outside.serialize()), std::nullopt);
}

}  // namespace
}  // namespace tlaloc::cpu
