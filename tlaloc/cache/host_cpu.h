// Which processor this is.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tlaloc::cache {

/// What the processor says of its model and its instructions, and which registers the system saves:
/// equal on machines for which the same code is made, without asking LLVM. The same on every core,
/// except where cores differ in kind.
std::vector<std::uint32_t> identify_host_cpu();

/// The same, where there is no cpuid, from what Linux says: the text of /proc/cpuinfo, of which
/// each line counts once and those of a single core not at all, and the words of the auxiliary
/// vector on what programs may use. More lines than code depends on count rather than fewer.
std::vector<std::uint32_t> identify_cpu(std::string_view cpuinfo,
                                        std::span<const std::uint64_t> capabilities);

/// identify_host_cpu(), asked once: cpuid takes a microsecond, and a hundred on a virtual machine.
const std::vector<std::uint32_t>& host_cpu();

}  // namespace tlaloc::cache
