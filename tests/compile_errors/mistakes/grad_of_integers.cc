// TL-GRAD-003: the argument is not floating
// modes: plain
#include "../model.h"

auto gradient = tl::grad([](const Labels& y) { return tl::mean(tl::cast<float>(y)); });  // error in: grad(
