#include "tlaloc/cpu/kept_right.h"

#include <unistd.h>

#include <atomic>

#include "tlaloc/base/dtype.h"
#include "tlaloc/cpu/plan.h"
#include "tlaloc/cpu/settings.h"

namespace tlaloc::cpu {
namespace {

std::size_t most_kept_bytes() {
  static const std::size_t most = [] {
    const auto stated = settings_from_environment().packed_bytes;
    return stated ? static_cast<std::size_t>(*stated)
                  : static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 4;
  }();
  return most;
}

std::atomic<std::size_t> kept_bytes = 0;  // by the process

}  // namespace

std::shared_ptr<KeptRight> KeptRight::reserve(const FixedMatrix& matrix) {
  const std::size_t bytes = packed_bytes(matrix.packing, matrix.k, matrix.n);
  std::size_t now = kept_bytes;
  do {
    if (bytes > most_kept_bytes() || now > most_kept_bytes() - bytes) return nullptr;
  } while (!kept_bytes.compare_exchange_weak(now, now + bytes));
  return std::shared_ptr<KeptRight>(new KeptRight(matrix, bytes));
}
KeptRight::~KeptRight() { kept_bytes -= bytes_; }
std::size_t kept_right_bytes() { return kept_bytes; }

void KeptRight::pack(const std::byte* data, std::shared_ptr<const KeptMemory> memory,
                     std::size_t at) {
  const auto& [_, packing, k, n, offset, row, column] = matrix_;
  memory_ = std::move(memory);
  at_ = at;
  std::byte* const out = memory_->get() + at_;
  if (const auto dtype = element_of(packing)) {
    pack_right(packing, k, n, data + offset * byte_size(*dtype), row, column, out);
  } else {
    pack_blocks(packing, k, n, reinterpret_cast<const std::uint8_t*>(data), out);
  }
}

bool is_narrow(Packing packing, std::int64_t k, std::int64_t n) {
  // Of a multiple of every panel's columns: nothing but elements, beside the gaps between panels.
  constexpr std::int64_t kColumns = 64;
  return static_cast<double>(packed_bytes(packing, k, n)) / static_cast<double>(n) >
         2 * static_cast<double>(packed_bytes(packing, k, kColumns)) / kColumns;
}

bool is_worth_packing(Packing packing, std::int64_t k, std::int64_t n) {
  constexpr std::size_t kFewBytes = std::size_t{64} << 10;
  return packed_bytes(packing, k, n) >= kFewBytes && !is_narrow(packing, k, n);
}

std::shared_ptr<const KeptRight> keep_right(Emitter& e, const FixedMatrix& matrix,
                                            const char*& why) {
  if (!e.keeps) return nullptr;
  const auto it = e.rights.find(matrix);
  if (it != e.rights.end()) return it->second;
  const auto right = KeptRight::reserve(matrix);
  if (!right) {
    why = "no room to keep its right side packed";
    return nullptr;
  }
  e.program.kept.push_back({static_cast<std::uint32_t>(e.program.steps.size()), right});
  return e.rights.emplace(matrix, right).first->second;
}

void pack_kept(const Program& program, std::span<const HostArray> fixed) {
  if (program.kept.empty()) return;
  // Panels take a multiple of 64 bytes, and so do all of a matrix.
  std::size_t bytes = 0, at = 0;
  for (const Program::Kept& kept : program.kept) bytes += kept.right->bytes();
  const auto memory = std::make_shared<const KeptMemory>(bytes);
  for (const Program::Kept& kept : program.kept) {
    const Storage& s = program.storages[kept.right->matrix().storage];
    const HostArray& from =
        s.kind == Storage::Kind::constant ? program.constants[s.index] : fixed[s.index];
    kept.right->pack(static_cast<const std::byte*>(from.data()), memory, at);
    at += kept.right->bytes();
  }
}

}  // namespace tlaloc::cpu
