#include "tlaloc/lang/threads.h"

#include "tlaloc/cpu/gang.h"

namespace tlaloc {

std::int64_t num_threads() { return cpu::num_threads(); }
void set_num_threads(std::int64_t n) { cpu::set_num_threads(n); }

}  // namespace tlaloc
