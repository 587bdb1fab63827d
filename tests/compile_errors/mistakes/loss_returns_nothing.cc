// TL-CALL-001: the function returns nothing
// modes: plain
#include "../model.h"

auto step = tl::jit([](const Images&) {});  // error in: jit(
