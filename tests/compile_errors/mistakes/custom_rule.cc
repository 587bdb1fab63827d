// TL-CUSTOM-001: a rule returns another type
// modes: plain
#include "../model.h"

using D = tl::Scalar<double>;
auto f = tl::custom_jvp([](D x) { return x; }, [](D x, D) { return x; });  // error in: custom_jvp(
