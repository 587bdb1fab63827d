// TL-CALL-002: not callable
// type: int
// modes: plain
#include "../model.h"

auto gradient = tl::grad(3);  // error in: grad(3)
