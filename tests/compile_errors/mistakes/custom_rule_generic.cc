// TL-CUSTOM-001: a rule returns another type
// type: Tensor<double>
// modes: generic
// place: header
// except: clang generic: 1 error, 22 lines: clang names the three callers of the check, which lie in headers
#include "../model.h"

void run() {
  auto f = tl::custom_jvp([](auto x) { return tl::exp(x); }, [](auto x, auto dx) { return x * dx; });
  auto y = f(1.0);  // error in: f(1.0)
}
