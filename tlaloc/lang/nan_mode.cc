#include "tlaloc/lang/nan_mode.h"

#include <cstdlib>
#include <string_view>

namespace tlaloc {
namespace {
bool from_environment() {
  const char* value = std::getenv("TLALOC_CHECK_NAN");
  return value && *value && std::string_view(value) != "0";
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
