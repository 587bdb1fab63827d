// TL-GRAD-003: a number: take tl::Scalar
// modes: plain
#include "../model.h"

auto gradient = tl::grad([](double x) { return tl::Scalar<double>(x); });  // error in: grad(
