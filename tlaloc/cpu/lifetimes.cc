#include "tlaloc/cpu/lifetimes.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/loop.h"

namespace tlaloc::cpu {
namespace {

constexpr std::uint32_t kNoLoop = ~std::uint32_t{0};
/// Params that a result remembers as places to lie in; each run looks at them.
constexpr std::size_t kMaxDonors = 8;

/// What one instruction does with a storage.
struct Access {
  bool writes = false;
  /// It reads, and may write the same elements in the same step.
  bool in_place = true;
};
using Accesses = std::map<std::uint32_t, Access>;  // by position in the code

class Merger {
 public:
  Merger(Emitter& e, std::span<const runtime::Alias> aliases)
      : e_(e), p_(e.program), aliases_(aliases) {
    find_loops();
    find_arms();
    find_accesses();
  }

  void run() {
    drop_unread_outputs();
    // Moves at the end of a loop before copies in it, outer loops before inner ones: what is merged
    // into a carry first can be updated in it.
    std::vector<std::uint32_t> copies = e_.copies;
    std::ranges::sort(copies, std::greater<>());
    for (std::uint32_t at : copies) {
      if (try_merge(at)) drop(at, find(p_.steps[p_.code[at].index].storages[0]));
    }
    for (std::uint32_t at : e_.updates) try_merge(at);
    rename();
    find_lifetimes();
    find_donors();
  }

 private:
  void find_loops() {
    loop_.assign(p_.code.size() + 1, kNoLoop);
    parent_.assign(e_.loops.size(), kNoLoop);
    for (std::uint32_t k = 0; k < e_.loops.size(); ++k) {
      std::uint32_t i = e_.loops[k].begin;
      while (i < e_.loops[k].end) {
        if (loop_[i] == kNoLoop) {
          loop_[i++] = k;
          continue;
        }
        // A loop inside this one: step over the outermost of them.
        std::uint32_t inner = loop_[i];
        while (parent_[inner] != kNoLoop) inner = parent_[inner];
        parent_[inner] = k;
        i = e_.loops[inner].end;
      }
    }
  }

  /// Numbers the stretches of code that a jump may leave out: the arms of branches, and bodies.
  void find_arms() {
    arm_.assign(p_.code.size() + 1, 0);
    std::uint32_t arms = 0;
    auto number = [&](std::uint32_t begin, std::uint32_t end) {
      std::fill(arm_.begin() + begin, arm_.begin() + end, ++arms);
    };
    // Outer ones come first, inner ones overwrite them.
    for (std::uint32_t i = 0; i < p_.code.size(); ++i) {
      if (p_.code[i].code != Code::jump_unless) continue;
      const std::uint32_t end = p_.code[i].target;
      number(i + 1, end);
      const Instruction& last = p_.code[end - 1];
      if (last.code == Code::jump && last.target >= end) number(end, last.target);
    }
  }

  void touch(StorageId s, std::uint32_t at, Access a) {
    auto [it, added] = accesses_[s].try_emplace(at, a);
    if (added) return;
    it->second.writes = it->second.writes || a.writes;
    it->second.in_place = it->second.in_place && a.in_place;
  }
  void find_accesses() {
    accesses_.resize(p_.storages.size());
    to_.resize(p_.storages.size());
    for (StorageId s = 0; s < to_.size(); ++s) to_[s] = s;
    for (std::uint32_t i = 0; i < p_.code.size(); ++i) {
      const Instruction& in = p_.code[i];
      switch (in.code) {
        case Code::step: {
          const Step& s = p_.steps[in.index];
          for (std::size_t k = 0; k < s.storages.size(); ++k) {
            const bool writes = k >= s.reads;
            touch(s.storages[k], i, {writes, writes || (k < 64 && ((s.in_place >> k) & 1))});
          }
          break;
        }
        case Code::jump_unless:
        case Code::load:
          touch(in.index, i, {false, false});
          break;
        case Code::hold:
        case Code::make:
        case Code::grow:
          touch(in.index, i, {true, false});
          break;
        default:
          break;
      }
    }
    const auto end = static_cast<std::uint32_t>(p_.code.size());
    for (const Program::Result& r : p_.results) touch(r.storage, end, {false, false});
  }

  StorageId find(StorageId s) {
    while (to_[s] != s) s = to_[s] = to_[to_[s]];
    return s;
  }

  /// What a loop computes for results of its own, since others joined it, and nobody else reads,
  /// stays in its registers.
  void drop_unread_outputs() {
    for (std::uint32_t i = 0; i < p_.code.size(); ++i) {
      if (p_.code[i].code != Code::step) continue;
      Step& step = p_.steps[p_.code[i].index];
      if (step.run != run_loop || step.written().size() < 2) continue;
      const auto unread = [&](StorageId s) {
        return p_.storages[s].kind == Storage::Kind::planned && accesses_[s].size() == 1 &&
               std::ranges::count(step.storages, s) == 1;
      };
      if (std::ranges::none_of(step.written(), unread)) continue;
      auto loop = std::make_shared<Loop>(*static_cast<const Loop*>(step.data.get()));
      for (std::size_t k = loop->outputs.size(); k-- > 0 && loop->outputs.size() > 1;) {
        const std::uint16_t array = loop->outputs[k].array;
        if (!unread(step.storages[array])) continue;
        accesses_[step.storages[array]].clear();
        step.storages.erase(step.storages.begin() + array);
        loop->outputs.erase(loop->outputs.begin() + static_cast<std::ptrdiff_t>(k));
        for (Loop::Output& o : loop->outputs) o.array -= o.array > array ? 1 : 0;
      }
      step.data = std::move(loop);
    }
  }

  /// The step at `at` is V -> S, and may run in place. They can be one piece of memory if all that
  /// happens to V happens in [d, at], in one run through the code of one loop, and nothing happens
  /// to S meanwhile but that the step at d may read the elements that it writes. True if they are.
  bool try_merge(std::uint32_t at) {
    const Step& step = p_.steps[p_.code[at].index];
    const StorageId v = find(step.storages[0]), s = find(step.storages[1]);
    if (v == s) return true;
    const Storage &from = p_.storages[v], &to = p_.storages[s];
    if (from.kind != Storage::Kind::planned || to.kind != Storage::Kind::planned) return false;
    if (from.dtype != to.dtype || from.elements != to.elements) return false;
    const Accesses &av = accesses_[v], &as = accesses_[s];
    const std::uint32_t first = av.begin()->first;
    if (av.rbegin()->first > at || loop_[first] != loop_[at]) return false;
    // What begins in one arm and is copied in another says nothing about runs that miss the copy:
    // there S may be needed as it was.
    if (arm_[first] != arm_[at] && !as.empty() && as.begin()->first < first) return false;
    for (auto it = as.lower_bound(first); it != as.end() && it->first < at; ++it) {
      if (it->first > first || it->second.writes || !it->second.in_place) return false;
    }
    // The step at `first` must be one that computes element by element.
    merge(v, s);
    return true;
  }

  void merge(StorageId a, StorageId b) {
    if (accesses_[a].size() > accesses_[b].size()) std::swap(a, b);
    for (const auto& [at, access] : accesses_[a]) touch(b, at, access);
    accesses_[a].clear();
    to_[a] = b;
    p_.storages[a].kind = Storage::Kind::none;
  }
  /// The copy of a storage onto itself.
  void drop(std::uint32_t at, StorageId s) {
    p_.code[at].code = Code::nothing;
    accesses_[s].erase(at);
  }

  void rename() {
    for (Step& s : p_.steps) {
      for (StorageId& id : s.storages) id = find(id);
    }
    for (Instruction& in : p_.code) {
      switch (in.code) {
        case Code::jump_unless:
        case Code::load:
        case Code::hold:
        case Code::make:
        case Code::grow:
          in.index = find(in.index);
          break;
        default:
          break;
      }
    }
    for (Program::Result& r : p_.results) r.storage = find(r.storage);
  }

  void find_lifetimes() {
    for (StorageId s = 0; s < p_.storages.size(); ++s) {
      Storage& storage = p_.storages[s];
      const Accesses& a = accesses_[s];
      if (a.empty()) {
        if (storage.kind == Storage::Kind::planned) storage.kind = Storage::Kind::none;
        continue;
      }
      storage.first = a.begin()->first;
      storage.last = a.rbegin()->first;
      // What a loop reads it reads again in the next trip.
      for (std::uint32_t l = loop_[storage.last]; l != kNoLoop; l = parent_[l]) {
        if (storage.first < e_.loops[l].begin) storage.last = e_.loops[l].end;
      }
    }
  }

  /// A result may lie where an argument did if nobody reads that once the result is begun, but for
  /// the step that begins it, element by element.
  bool may_donate(StorageId a, const Storage& to) const {
    const Storage& from = p_.storages[a];
    if (from.dtype != to.dtype || from.elements != to.elements) return false;
    if (accesses_[a].empty()) return true;
    const auto& [last, access] = *accesses_[a].rbegin();
    // What a loop reads it reads again.
    std::uint32_t end = last;
    for (std::uint32_t l = loop_[last]; l != kNoLoop; l = parent_[l]) end = e_.loops[l].end;
    return end < to.first || (end == to.first && access.in_place);
  }

  void find_donors() {
    const auto params = static_cast<StorageId>(p_.graph->param_count());
    std::unordered_map<StorageId, std::uint32_t> uses;
    for (const Program::Result& r : p_.results) ++uses[r.storage];
    const auto is_new = [&](const Program::Result& r) {
      return p_.storages[r.storage].kind == Storage::Kind::planned && uses[r.storage] == 1;
    };
    // Promises that can be kept; others leave the argument to whoever can use it.
    std::vector<bool> promised(params);
    for (const runtime::Alias& a : aliases_) {
      internal_check(a.param < params && a.result < p_.results.size(), "an alias of nothing");
      Program::Result& r = p_.results[a.result];
      const auto param = static_cast<StorageId>(a.param);
      if (!is_new(r) || !may_donate(param, p_.storages[r.storage])) continue;
      promised[param] = true;
      r.donors.push_back(param);
    }
    for (std::size_t k = 0; k < p_.results.size(); ++k) {
      Program::Result& r = p_.results[k];
      if (!is_new(r)) continue;
      const Storage& to = p_.storages[r.storage];
      // What the result begins as first, such as one of many pools of a size that are updated;
      // then, as where state goes in and comes out, the param at the result's own place.
      std::vector<StorageId> others;
      for (StorageId i = 0; i < params; ++i) {
        const StorageId a = (static_cast<StorageId>(k) + i) % params;
        if (promised[a] || !may_donate(a, to)) continue;
        const bool begins = !accesses_[a].empty() && accesses_[a].rbegin()->first == to.first;
        (begins ? r.donors : others).push_back(a);
      }
      r.donors.insert(r.donors.end(), others.begin(), others.end());
      if (r.donors.size() > kMaxDonors) r.donors.resize(kMaxDonors);
    }
  }

  Emitter& e_;
  Program& p_;
  std::span<const runtime::Alias> aliases_;
  std::vector<std::uint32_t> loop_;    // innermost, by position
  std::vector<std::uint32_t> parent_;  // by loop
  std::vector<std::uint32_t> arm_;     // innermost, by position; 0: none
  std::vector<Accesses> accesses_;
  std::vector<StorageId> to_;
};

}  // namespace

void finish_storages(Emitter& e, std::span<const runtime::Alias> aliases) {
  Merger(e, aliases).run();
}

}  // namespace tlaloc::cpu
