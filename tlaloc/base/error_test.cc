#include "tlaloc/base/error.h"

#include <gtest/gtest.h>

namespace tlaloc {
namespace {

TEST(Error, SaysEverythingItKnows) {
  EXPECT_STREQ(UserError({.code = "TL-X-001", .message = "no"}).what(), "TL-X-001: no");
  const UserError all({.code = "TL-X-001",
                       .op = "add",
                       .message = "2 is not 3",
                       .hint = "make them equal",
                       .place = {"model.cc", 7}});
  EXPECT_STREQ(all.what(), "model.cc:7: TL-X-001: add: 2 is not 3; make them equal");
  EXPECT_EQ(all.code(), "TL-X-001");
  EXPECT_EQ(all.info().hint, "make them equal");
  const UserError column({.code = "TL-X-001", .message = "no", .place = {"a.tl", 7, 12}});
  EXPECT_STREQ(column.what(), "a.tl:7:12: TL-X-001: no");
}

TEST(Error, APlaceIsAddedOnce) {
  UserError e({.code = "TL-X-001", .message = "no"});
  e.add_place({});
  EXPECT_STREQ(e.what(), "TL-X-001: no");
  e.add_place({"inner.cc", 1});
  e.add_place({"outer.cc", 2});
  EXPECT_STREQ(e.what(), "inner.cc:1: TL-X-001: no") << "the innermost place is the precise one";
}

TEST(Error, InternalErrorsAskForAReport) {
  EXPECT_STREQ(InternalError("broken").what(),
               "TL-INTERNAL-001: broken; this is a defect of Tlaloc: please report it");
  EXPECT_NO_THROW(internal_check(true, "fine"));
  EXPECT_THROW(internal_check(false, "broken"), InternalError);
}

TEST(Error, KindsAreDistinct) {
  EXPECT_THROW(throw EnvironmentError({.code = "TL-MEM-001", .message = "no"}), Error);
  EXPECT_THROW(
      {
        try {
          throw EnvironmentError({.code = "TL-MEM-001", .message = "no"});
        } catch (const UserError&) {
        }
      },
      EnvironmentError);
}

}  // namespace
}  // namespace tlaloc
