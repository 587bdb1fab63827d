#include "tlaloc/iree/exchange_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/cache/testing.h"

namespace tlaloc::iree {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Another process that has an ExchangeFolder, until it is killed.
class OtherProcess {
 public:
  OtherProcess() {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    child_ = fork();
    if (child_ == 0) {
      const ExchangeFolder folder;
      std::ofstream(folder.path() / "input0.bin") << "1234";
      EXPECT_EQ(write(ready[1], "!", 1), 1);
      for (;;) pause();
    }
    close(ready[1]);
    char there = 0;
    EXPECT_EQ(read(ready[0], &there, 1), 1);
    close(ready[0]);
  }
  ~OtherProcess() { kill(); }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  void kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }

 private:
  pid_t child_;
};

class ExchangeFolders : public ::testing::Test {
 protected:
  ExchangeFolders() { variables_.set("TMPDIR", temporary_.path().string()); }
  std::vector<fs::path> left() const {
    std::vector<fs::path> all;
    for (const auto& f : fs::directory_iterator(temporary_.path())) all.push_back(f.path());
    return all;
  }
  const fs::path& temporary() const { return temporary_.path(); }
  cache::testing::Variables variables_;

 private:
  cache::testing::TemporaryFolder temporary_;
};

TEST_F(ExchangeFolders, AreApartAndLeaveNothing) {
  {
    const ExchangeFolder one, two;
    EXPECT_NE(one.path(), two.path());
    for (const ExchangeFolder* f : {&one, &two}) {
      EXPECT_EQ(fs::status(f->path()).permissions(), fs::perms::owner_all);
      std::ofstream(f->path() / "file") << "x";
    }
    EXPECT_THAT(left(), SizeIs(1));
  }
  EXPECT_THAT(left(), IsEmpty());
}

TEST_F(ExchangeFolders, OfProcessesThatWereKilledAreRemoved) {
  OtherProcess killed, goes_on;
  ASSERT_THAT(left(), SizeIs(2));
  killed.kill();
  {
    const ExchangeFolder ours;
    EXPECT_THAT(left(), SizeIs(2)) << "ours, and that of the process that goes on";
    const ExchangeFolder more;
  }
  const std::vector<fs::path> now = left();
  ASSERT_THAT(now, SizeIs(1));
  std::vector<std::string> files;
  for (const auto& f : fs::recursive_directory_iterator(now[0])) {
    if (f.is_regular_file()) files.push_back(f.path().filename());
  }
  EXPECT_THAT(files, ElementsAre("input0.bin"));
}

TEST_F(ExchangeFolders, WhatIsNotOneIsLeftAlone) {
  fs::create_directory(temporary() / "tlaloc-other");
  std::ofstream(temporary() / "tlaloc-iree-file") << "x";
  fs::create_directory_symlink(temporary() / "tlaloc-other", temporary() / "tlaloc-iree-linked");
  {
    const ExchangeFolder ours;
  }
  EXPECT_THAT(left(), SizeIs(3));
}

TEST_F(ExchangeFolders, WithoutAPlaceForThemIsAnError) {
  variables_.set("TMPDIR", (temporary() / "nowhere").string());
  try {
    const ExchangeFolder none;
    FAIL();
  } catch (const EnvironmentError& e) {
    EXPECT_THAT(e.what(), HasSubstr("TL-IREE-003: iree: there is no folder for temporary files"));
  }
}

}  // namespace
}  // namespace tlaloc::iree
