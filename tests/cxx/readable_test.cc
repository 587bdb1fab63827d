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

TEST(Source, OfAFunctionWithoutArguments) {
  const auto three = [] { return Real(3.0); };
  EXPECT_EQ(to_source(three)(), "double f() {\n  return 3.0;\n}\n");
  const auto of_none = [](std::vector<Real>) { return Real(3.0); };
  EXPECT_EQ(to_source(of_none)(std::vector<Real>{}), "double f() {\n  return 3.0;\n}\n");
  const SourceOptions tensors{.mode = SourceMode::tensor};
  EXPECT_EQ(to_source(three, tensors)(),
            "#include <tlaloc/tlaloc.h>\n\ntl::Scalar<double> f() {\n  return "
            "tl::Scalar<double>(3.0);\n}\n");
}

}  // namespace
}  // namespace tlaloc::testing
