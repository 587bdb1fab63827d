// TL-JAC-001: the result is no floating tensor
// type: Mlp
// modes: plain
#include "../model.h"

Mlp model;
auto jacobian = tl::jacfwd([](const Images&) { return model; });  // error in: jacfwd(
