#include "tlaloc/base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tlaloc/base/error.h"

namespace tlaloc {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string name = (fs::temp_directory_path() / "tlaloc-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  ~Files() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string text(const std::string& name) const {
    std::stringstream all;
    all << std::ifstream(path(name)).rdbuf();
    return all.str();
  }
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static FileContent content(const std::string& path, const std::string& text) {
    return {path, std::as_bytes(std::span(text))};
  }

 private:
  fs::path folder_;
};

std::string error(const std::vector<FileContent>& files) {
  try {
    write_files("test", files);
  } catch (const EnvironmentError& e) {
    return e.what();
  }
  return "";
}

TEST_F(Files, WritesAllOfThem) {
  const std::string one = "one", more = "more than one";
  EXPECT_EQ(error({content(path("a"), more), content(path("b"), one)}), "");
  EXPECT_EQ(error({content(path("a"), one)}), "");  // replaces what is there
  EXPECT_EQ(text("a"), "one");
  EXPECT_EQ(text("b"), "one");
  EXPECT_EQ(count(), 2U);
}

TEST_F(Files, OrNone) {
  const std::string before = "before", after = "after";
  ASSERT_EQ(error({content(path("old"), before)}), "");
  for (const std::string& bad : {path("no/such"), path("")}) {
    EXPECT_THAT(
        error({content(path("old"), after), content(path("new"), after), content(bad, after)}),
        HasSubstr("TL-FILE-001: test: can't write " + bad));
    EXPECT_EQ(text("old"), "before");
    EXPECT_EQ(count(), 1U);
  }
}

TEST_F(Files, TwoForOnePathAreRefused) {
  const std::string before = "before", one = "one", two = "two";
  ASSERT_EQ(error({content(path("a"), before)}), "");
  fs::create_symlink("a", path("link"));
  for (const std::string& name : {path("a"), path("./a"), path("link")}) {
    EXPECT_THROW(write_files("test", {content(path("a"), one), content(name, two)}), UserError);
    EXPECT_EQ(text("a"), "before");
  }
  EXPECT_THROW(write_files("test", {content(path("b"), one), content(path("b"), two)}), UserError);
  EXPECT_EQ(error({content("/dev/null", one), content("/dev/null", two)}), "");
}

TEST_F(Files, LinksAndDevicesStayWhatTheyAre) {
  const std::string text_of_all = "text";
  ASSERT_EQ(error({content(path("file"), text_of_all)}), "");
  fs::create_symlink("file", path("link"));
  fs::create_symlink("/dev/null", path("null"));
  const std::string other = "other";
  EXPECT_EQ(error({content(path("link"), other), content(path("null"), other)}), "");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_TRUE(fs::is_symlink(path("null")));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_EQ(text("file"), "other");
}

TEST_F(Files, APartIsGoneWithItsObject) {
  {
    NewFile file("test", path("a"));
    const std::string piece = "piece ";
    file.write(std::as_bytes(std::span(piece)));
    EXPECT_FALSE(fs::exists(path("a")));
  }
  EXPECT_EQ(count(), 0U);
  NewFile file("test", path("a"));
  for (const std::string& piece : {std::string("two "), std::string("pieces")}) {
    file.write(std::as_bytes(std::span(piece)));
  }
  file.put();
  EXPECT_EQ(text("a"), "two pieces");
  EXPECT_EQ(count(), 1U);
}

TEST_F(Files, KeepTheirMode) {
  const std::string before = "before", after = "after";
  ASSERT_EQ(error({content(path("a"), before)}), "");
  for (const fs::perms mode : {fs::perms(0600), fs::perms(0666)}) {  // more and less than usual
    fs::permissions(path("a"), mode);
    ASSERT_EQ(error({content(path("a"), after)}), "");
    EXPECT_EQ(fs::status(path("a")).permissions(), mode);
  }
}

TEST_F(Files, PartsTouchNoOtherFile) {
  // The names that the next parts would have, one of them a link to another's file.
  std::string part;
  {
    NewFile file("test", path("a"));
    part = fs::directory_iterator(path(""))->path().string();
  }
  const std::size_t dot = part.rfind('.', part.size() - 6);
  const int number = std::stoi(part.substr(dot + 1));
  const std::string secret = "another's", text_of_a = "a";
  ASSERT_EQ(error({content(path("secret"), secret)}), "");
  auto next = [&](int i) { return part.substr(0, dot + 1) + std::to_string(number + i) + ".part"; };
  fs::create_symlink("secret", next(2));
  std::ofstream(next(3)) << "theirs";
  ASSERT_EQ(error({content(path("a"), text_of_a)}), "");
  EXPECT_EQ(text("a"), "a");
  EXPECT_EQ(text("secret"), secret);
  EXPECT_EQ(text(fs::path(next(3)).filename().string()), "theirs");
  EXPECT_EQ(count(), 4U);
}

TEST_F(Files, AreMapped) {
  const std::string text = "some text", nothing;
  write_files("test", {content(path("a"), text), content(path("b"), nothing)});
  const auto a = MappedFile::open("test", path("a"));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(a->bytes().data()), a->bytes().size()), text);
  EXPECT_EQ(a->path(), path("a"));
  EXPECT_TRUE(MappedFile::open("test", path("b"))->bytes().empty());
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);  // which nothing will write to
  for (const std::string& bad :
       {path("no/such"), path(""), std::string("/dev/null"), path("pipe")}) {
    try {
      MappedFile::open("test", bad);
      FAIL() << bad;
    } catch (const EnvironmentError& e) {
      EXPECT_THAT(e.what(), HasSubstr("TL-FILE-001: test: can't read " + bad + ": "));
    }
  }
}

}  // namespace
}  // namespace tlaloc
