#include "tlaloc/lang/nan_mode.h"

#include <cstdlib>
#include <string>

#include "tlaloc/base/error.h"

namespace tlaloc {
namespace {
bool from_environment() {
  const char* set = std::getenv("TLALOC_CHECK_NAN");
  const std::string value = set ? set : "";
  if (value == "1" || value == "on") return true;
  if (value.empty() || value == "0" || value == "off") return false;
  throw UserError({"TL-ENV-001",
                   "TLALOC_CHECK_NAN",
                   "\"" + value + "\" is not 1, on, 0 or off",
                   "correct or unset the environment variable",
                   {}});
}
bool& mode() {
  static const bool initial = from_environment();
  thread_local bool on = initial;
  return on;
}
}  // namespace

check_nan::check_nan(bool on) : previous_(mode()) { mode() = on; }
check_nan::~check_nan() { mode() = previous_; }

bool core::nan_mode() { return mode(); }

}  // namespace tlaloc
