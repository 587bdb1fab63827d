#include "tlaloc/cpu/host_cpu.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <initializer_list>

namespace tlaloc::cpu {

#ifdef __x86_64__
namespace {

struct Registers {
  std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
};

/// Zeros beyond what the processor knows.
Registers leaf(std::uint32_t number, std::uint32_t sub = 0) {
  Registers r;
  __get_cpuid_count(number, sub, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

/// Which registers the system saves (XCR0).
std::uint32_t saved_registers() {
  std::uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

}  // namespace

std::vector<std::uint32_t> identify_host_cpu() {
  // Left out is what differs between the cores of one machine: numbers of cores (ebx of leaf 1).
  const Registers vendor = leaf(0), model = leaf(1), more = leaf(7);
  const Registers even_more = more.eax >= 1 ? leaf(7, 1) : Registers{};
  const Registers extended = leaf(0x80000001);
  std::vector<std::uint32_t> all{vendor.ebx,    vendor.ecx,    vendor.edx,    model.eax,
                                 model.ecx,     model.edx,     more.ebx,      more.ecx,
                                 more.edx,      even_more.eax, even_more.ebx, even_more.ecx,
                                 even_more.edx, extended.ecx,  extended.edx};
  // Saving of registers, key locker, AVX10, and what AMD adds.
  all.insert(all.end(), {leaf(0xd, 1).eax, leaf(0x19).ebx, leaf(0x24).ebx, leaf(0x80000008).ebx});
  all.push_back((model.ecx & bit_OSXSAVE) != 0 ? saved_registers() : 0);
  return all;
}
#else
std::vector<std::uint32_t> identify_host_cpu() { return {}; }
#endif

const std::vector<std::uint32_t>& host_cpu() {
  static const std::vector<std::uint32_t> kIdentity = identify_host_cpu();
  return kIdentity;
}

}  // namespace tlaloc::cpu
