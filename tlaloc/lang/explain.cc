#include "tlaloc/lang/explain.h"

#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/nan_mode.h"

namespace tlaloc::core {
namespace {

thread_local ExplainScope* innermost = nullptr;

}  // namespace

ExplainScope::ExplainScope() {
  if (nan_mode()) {
    throw UserError(
        {"TL-BACKEND-001",
         "explain",
         "programs that stop at the first NaN run on the interpreter, which has nothing "
         "to explain",
         "call explain outside of check_nan, and without TLALOC_CHECK_NAN=1",
         {}});
  }
  outer_ = std::exchange(innermost, this);
}
ExplainScope::~ExplainScope() { innermost = outer_; }

Explanation ExplainScope::take() {
  if (told_) return std::move(explanation_);
  throw UserError({"TL-BACKEND-001",
                   "explain",
                   "the function became a part of another trace, so nothing ran",
                   "call explain outside of traced functions",
                   {}});
}

bool explaining() { return innermost != nullptr; }

void tell(Explanation e) {
  if (!innermost || innermost->told_) return;
  innermost->told_ = true;
  innermost->explanation_ = std::move(e);
}

}  // namespace tlaloc::core
