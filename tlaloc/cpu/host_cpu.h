// Which processor this is.
#pragma once

#include <cstdint>
#include <vector>

namespace tlaloc::cpu {

/// What the processor says of its model and its instructions, and which registers the system saves:
/// equal on machines for which the same code is made, without asking LLVM. Empty where there is no
/// cpuid. The same on every core, except where cores differ in kind.
std::vector<std::uint32_t> identify_host_cpu();

/// The same, asked once: cpuid takes a microsecond, and a hundred on a virtual machine.
const std::vector<std::uint32_t>& host_cpu();

}  // namespace tlaloc::cpu
