#include "tlaloc/cache/host_cpu.h"

#ifdef __x86_64__
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "tlaloc/base/digest.h"

namespace tlaloc::cache {

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
std::vector<std::uint32_t> identify_host_cpu() {
  std::ifstream file("/proc/cpuinfo");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::uint64_t capabilities[] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
  return identify_cpu(text, capabilities);
}
#endif

std::vector<std::uint32_t> identify_cpu(std::string_view cpuinfo,
                                        std::span<const std::uint64_t> capabilities) {
  // Numbers of cores, and speeds that are measured when the machine starts or as it runs.
  static constexpr std::string_view kOfOneCore[] = {"processor", "hart",  "BogoMIPS",
                                                    "bogomips",  "clock", "cpu MHz"};
  std::set<std::string_view> lines;
  while (!cpuinfo.empty()) {
    const std::string_view line = cpuinfo.substr(0, cpuinfo.find('\n'));
    cpuinfo.remove_prefix(std::min(line.size() + 1, cpuinfo.size()));
    std::string_view key = line.substr(0, line.find(':'));
    key = key.substr(0, key.find_last_not_of(" \t") + 1);
    if (std::ranges::find(kOfOneCore, key) == std::end(kOfOneCore)) lines.insert(line);
  }
  Hasher h;
  for (std::uint64_t word : capabilities) h.add(word);
  for (std::string_view line : lines) h.add(line);
  const Digest digest = h.finish();
  std::vector<std::uint32_t> words(digest.size() / sizeof(std::uint32_t));
  std::memcpy(words.data(), digest.data(), digest.size());
  return words;
}

const std::vector<std::uint32_t>& host_cpu() {
  static const std::vector<std::uint32_t> kIdentity = identify_host_cpu();
  return kIdentity;
}

}  // namespace tlaloc::cache
