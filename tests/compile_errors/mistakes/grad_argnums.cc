// TL-GRAD-004: no such argument
// type: Argnums<1>
// modes: plain
#include "../model.h"

auto loss = [](const Images& x) { return tl::mean(x); };
auto gradient = tl::grad(loss, tl::argnums<1>);  // error in: grad(loss, tl::argnums<1>)
