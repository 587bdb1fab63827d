// What plain mode prints of typical programs, as whole texts in goldens/: what a reader sees is
// part of what is promised. TLALOC_UPDATE_GOLDENS=1 writes them anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/cxx/plain_models.h"

namespace tlaloc::testing {
namespace {

TEST(PlainMode, ReadsLikeWhatAPersonWrites) {
  const bool update = std::getenv("TLALOC_UPDATE_GOLDENS") != nullptr;
  each_plain_program([&](const std::string& name, const std::string& text) {
    const std::string path = "tests/cxx/goldens/" + name + ".txt";
    if (update) std::ofstream(path) << text;
    std::ifstream f(path);
    std::stringstream wanted;
    wanted << f.rdbuf();
    EXPECT_EQ(text, wanted.str()) << path;
  });
}

}  // namespace
}  // namespace tlaloc::testing
