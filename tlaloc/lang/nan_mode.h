// Stops at the first NaN or infinity that an operation makes.
#pragma once

namespace tlaloc {

/// While alive, this thread's operations fail with UserError TL-NAN-001 at the first NaN or
/// infinity that no operand had, naming the operation and the user's line. The environment variable
/// TLALOC_CHECK_NAN=1 (or on; 0 and off are the default) turns it on in every thread; it is read
/// once, when a thread first asks. UserError TL-ENV-001 where it says something else.
class check_nan {
 public:
  explicit check_nan(bool on = true);
  ~check_nan();
  check_nan(const check_nan&) = delete;
  check_nan& operator=(const check_nan&) = delete;

 private:
  bool previous_;
};

namespace core {
bool nan_mode();
}  // namespace core

}  // namespace tlaloc
