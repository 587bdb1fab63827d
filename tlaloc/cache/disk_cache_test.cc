#include "tlaloc/cache/disk_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <set>
#include <thread>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/cache/testing.h"

namespace tlaloc::cache {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::uint64_t kMany = std::uint64_t{1} << 20;

Digest key(std::uint8_t number) { return {number}; }
/// Different for each number.
std::vector<std::byte> image(std::uint8_t number, std::size_t size = 100) {
  return std::vector<std::byte>(size, std::byte{number});
}

class DiskCacheTest : public ::testing::Test {
 protected:
  fs::path folder() const { return temporary_.path() / "deep" / "cache"; }
  fs::path file(std::uint8_t number) const { return folder() / (to_hex(key(number)) + ".code"); }
  std::uint64_t bytes_on_disk() const {
    std::uint64_t total = 0;
    for (const auto& entry : fs::directory_iterator(folder())) total += entry.file_size();
    return total;
  }

 private:
  testing::TemporaryFolder temporary_;
};

TEST_F(DiskCacheTest, KeepsAcrossObjects) {
  EXPECT_EQ(DiskCache(folder(), kMany).find(key(1)), std::nullopt);
  DiskCache(folder(), kMany).store(key(1), image(1));
  const DiskCache again(folder(), kMany);
  EXPECT_EQ(again.find(key(1)), image(1));
  EXPECT_EQ(again.find(key(2)), std::nullopt);
}

TEST_F(DiskCacheTest, IsForItsUserOnly) {
  DiskCache(folder() / "", kMany).store(key(1), image(1));
  EXPECT_EQ(fs::status(folder()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(file(1)).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(DiskCacheTest, RefusesAFolderThatIsOpenToOthers) {
  for (const fs::perms open : {fs::perms::group_write, fs::perms::others_write,
                               fs::perms::others_read, fs::perms::group_exec}) {
    {
      const DiskCache make(folder(), kMany);
    }
    fs::permissions(folder(), fs::perms::owner_all | open);
    EXPECT_THAT([&] { DiskCache(folder(), kMany); },
                ThrowsMessage<EnvironmentError>(
                    HasSubstr("TL-CACHE-001: cache of compiled code: " + folder().string() +
                              " is open to other users: its mode must be 0700; name another "
                              "folder with TLALOC_CACHE_DIR, or set TLALOC_CACHE=off")));
    fs::permissions(folder(), fs::perms::owner_all);
  }
}

TEST_F(DiskCacheTest, RefusesAnothersFolder) {
  {
    const DiskCache make(folder(), kMany);
  }
  EXPECT_THAT([&] { DiskCache(folder(), kMany, geteuid() + 1); },
              ThrowsMessage<EnvironmentError>(HasSubstr("belongs to another user")));
}

TEST_F(DiskCacheTest, RefusesWhatIsNoFolder) {
  fs::create_directories(folder().parent_path());
  std::ofstream(folder()) << "a file";
  EXPECT_THAT([&] { DiskCache(folder(), kMany); },
              ThrowsMessage<EnvironmentError>(HasSubstr("can't be opened: Not a directory")));
  EXPECT_THAT([&] { DiskCache(folder() / "below", kMany); },
              ThrowsMessage<EnvironmentError>(HasSubstr("can't be made: Not a directory")));
}

TEST_F(DiskCacheTest, RefusesToGuessAFolder) {
  EXPECT_THAT([] { DiskCache("", kMany); },
              ThrowsMessage<EnvironmentError>(
                  HasSubstr("the folder is not known: neither HOME nor XDG_CACHE_HOME is set")));
}

TEST_F(DiskCacheTest, ADamagedFileIsAsIfItWereNotThere) {
  DiskCache cache(folder(), kMany);
  const auto damages = std::vector<std::function<void(const fs::path&)>>{
      [](const fs::path& p) { fs::resize_file(p, fs::file_size(p) - 1); },
      [](const fs::path& p) { fs::resize_file(p, 0); },
      [](const fs::path& p) {
        std::fstream file(p, std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(80).put('!');
      },
      [this](const fs::path& p) {
        fs::copy_file(file(2), p, fs::copy_options::overwrite_existing);
      },
      [](const fs::path& p) { fs::permissions(p, fs::perms::group_write, fs::perm_options::add); },
      [this](const fs::path& p) {
        fs::rename(p, folder() / "elsewhere");
        fs::create_symlink(folder() / "elsewhere", p);
      },
      [](const fs::path& p) {
        fs::remove(p);
        ASSERT_EQ(mkfifo(p.c_str(), 0600), 0);
      },
  };
  cache.store(key(2), image(2));
  for (std::size_t i = 0; i < damages.size(); ++i) {
    cache.store(key(1), image(1));
    ASSERT_EQ(cache.find(key(1)), image(1)) << i;
    damages[i](file(1));
    EXPECT_EQ(cache.find(key(1)), std::nullopt) << i;
  }
  cache.store(key(1), image(1));
  EXPECT_EQ(cache.find(key(1)), image(1)) << "it is made anew";
}

/// What another user put there, as far as a test without rights can tell.
TEST_F(DiskCacheTest, AnothersFileIsAsIfItWereNotThere) {
  DiskCache cache(folder(), kMany);
  cache.store(key(1), image(1));
  if (chown(file(1).c_str(), geteuid() + 1, static_cast<gid_t>(-1)) != 0)
    GTEST_SKIP() << "only root can give a file away";
  EXPECT_EQ(cache.find(key(1)), std::nullopt);
}

TEST_F(DiskCacheTest, AFullDiskIsAnErrorThatLeavesNothingBehind) {
  DiskCache cache(folder(), kMany);
  fs::create_directory(file(1));  // where the file would go
  EXPECT_THAT([&] { cache.store(key(1), image(1)); },
              ThrowsMessage<EnvironmentError>(HasSubstr("can't be written: Is a directory")));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder()), {}), 1);
}

TEST_F(DiskCacheTest, TheOldestGoFirst) {
  constexpr std::uint64_t kLimit = 10000;
  DiskCache cache(folder(), kLimit);
  const fs::path stranger = folder() / "notes.txt";
  std::ofstream(stranger) << std::string(20000, ' ');
  for (std::uint8_t i = 0; i < 100; ++i) {
    cache.store(key(i), image(i, 300));
    EXPECT_LE(bytes_on_disk() - 20000, kLimit);
    EXPECT_EQ(cache.find(key(0)), image(0, 300)) << "what is used stays";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // apart in the file system's time
  }
  EXPECT_GE(bytes_on_disk() - 20000, kLimit / 2) << "no more than needed is removed";
  EXPECT_EQ(cache.find(key(1)), std::nullopt);
  EXPECT_EQ(cache.find(key(99)), image(99, 300));
  EXPECT_TRUE(fs::exists(stranger)) << "only what the cache made is removed";
  cache.store(key(200), image(200, kLimit));
  EXPECT_FALSE(fs::exists(file(200))) << "what is too large is not kept";
  EXPECT_EQ(cache.find(key(99)), image(99, 300)) << "nor does it drive out the others";
}

TEST_F(DiskCacheTest, WhatAProcessLeftUnfinishedIsRemovedLater) {
  {
    const DiskCache make(folder(), kMany);
  }
  const fs::path old = folder() / "a.1.part", fresh = folder() / "b.2.part";
  std::ofstream(old) << "half";
  std::ofstream(fresh) << "half";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  DiskCache(folder(), kMany).store(key(1), image(1));
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh)) << "somebody may be writing it";
}

/// Runs `work` in a process of its own, whose result is its exit code.
pid_t process(const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  return child;
}
bool succeeded(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_F(DiskCacheTest, SeveralProcessesAtOnce) {
  constexpr std::uint64_t kLimit = 20000;  // so that they remove each other's files
  std::vector<pid_t> children;
  for (int p = 0; p < 3; ++p)
    children.push_back(process([&] {
      DiskCache cache(folder(), kLimit);
      for (int round = 0; round < 300; ++round) {
        const auto number = static_cast<std::uint8_t>((round * (p + 1)) % 50);
        const auto found = cache.find(key(number));
        if (found && found != image(number, 800)) return false;
        if (!found) cache.store(key(number), image(number, 800));
      }
      return true;
    }));
  for (const pid_t child : children) EXPECT_TRUE(succeeded(child));
  EXPECT_LE(bytes_on_disk(), kLimit + 3 * kLimit / 8);
}

TEST_F(DiskCacheTest, AProcessMayDieWhileItWrites) {
  constexpr std::size_t kSize = 100000;
  int kept = 0;
  for (int round = 0; round < 20; ++round) {
    const pid_t child = process([&] {
      DiskCache cache(folder(), 64 * kMany);
      for (std::uint8_t i = 0;; ++i) cache.store(key(i), image(i, kSize));
      return true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(2 + round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const DiskCache cache(folder(), 64 * kMany);
    for (int i = 0; i < 256; ++i) {
      const auto number = static_cast<std::uint8_t>(i);
      const auto found = cache.find(key(number));
      // A file that is there is whole: it is found.
      EXPECT_EQ(found.has_value(), fs::exists(file(number)));
      if (!found) continue;
      EXPECT_EQ(found, image(number, kSize));
      ++kept;
    }
  }
  EXPECT_GT(kept, 0) << "the processes never wrote anything";
}

}  // namespace
}  // namespace tlaloc::cache
