#include "tlaloc/lang/place.h"

#include <algorithm>
#include <array>
#include <string>

#ifdef TLALOC_HAVE_LIBDW
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <execinfo.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <vector>
#endif

namespace tlaloc::core {
namespace {

/// "/base/ir/…/": the folders of tlaloc/, as the build knows them.
constexpr std::string_view kFolders = TLALOC_FOLDERS;

bool ends_with_any(std::string_view path, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view e) { return path.ends_with(e); });
}

/// Lies in a folder of tlaloc/, wherever that is checked out or installed.
bool is_own_file(std::string_view path) {
  constexpr std::string_view kRoot = "tlaloc/";
  for (std::size_t at = path.find(kRoot); at != path.npos; at = path.find(kRoot, at + 1)) {
    if (at > 0 && path[at - 1] != '/') continue;
    const std::string_view rest = path.substr(at + kRoot.size());
    const std::string_view folder = rest.substr(0, rest.find('/'));
    if (folder.size() < rest.size() && rest.find('/', folder.size() + 1) == rest.npos &&
        kFolders.find("/" + std::string(folder) + "/") != kFolders.npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool is_user_file(std::string_view path) {
  if (path.empty() || path.starts_with("/usr/include/") || path.starts_with("/usr/lib/") ||
      path.find("/include/c++/") != path.npos || path.starts_with("<")) {
    return false;
  }
  return !is_own_file(path) || ends_with_any(path, {"_test.cc", "_bench.cc", "_fuzz.cc"});
}

Place place_of(Where where) {
  if (where.line() == 0 || !is_user_file(where.file_name())) return {};
  return {where.file_name(), static_cast<int>(where.line())};
}

Place user_place(Where where) {
  Place p = place_of(where);
  return p.known() ? p : find_user_place();
}

#ifndef TLALOC_HAVE_LIBDW

Place find_user_place() { return {}; }
bool can_find_places() { return false; }

#else

namespace {

/// Debug information of this process. libdw is not thread-safe, hence the lock around all of it.
class DebugInfo {
 public:
  enum class Verdict { own, user, unknown };
  struct Answer {
    Verdict verdict = Verdict::unknown;
    Place place;
  };

  /// What the return address `ip` belongs to: the innermost user line among the functions inlined
  /// there; `own` when there is only Tlaloc's or a system library's code.
  const Answer& at(void* ip) {
    // The call lies before the address to return to.
    const auto pc = reinterpret_cast<Dwarf_Addr>(ip) - 1;
    auto it = answers_.find(pc);
    if (it == answers_.end()) it = answers_.emplace(pc, look_up(pc)).first;
    return it->second;
  }

 private:
  Dwfl_Module* module_at(Dwarf_Addr pc) {
    if (dwfl_) {
      if (Dwfl_Module* m = dwfl_addrmodule(dwfl_, pc)) return m;
    }
    // First use, or a library that was loaded since.
    static char* debuginfo_path = nullptr;
    static const Dwfl_Callbacks callbacks{dwfl_linux_proc_find_elf, dwfl_standard_find_debuginfo,
                                          nullptr, &debuginfo_path};
    if (!dwfl_) dwfl_ = dwfl_begin(&callbacks);
    if (!dwfl_) return nullptr;
    dwfl_report_begin_add(dwfl_);
    dwfl_linux_proc_report(dwfl_, getpid());
    dwfl_report_end(dwfl_, nullptr, nullptr);
    return dwfl_addrmodule(dwfl_, pc);
  }

  Answer look_up(Dwarf_Addr pc) {
    Answer a;
    Dwfl_Module* m = module_at(pc);
    if (!m) return a;
    if (is_system(m)) {
      a.verdict = Verdict::own;
      return a;
    }
    Dwarf_Addr bias = 0;
    Dwarf_Die* unit = dwfl_module_addrdie(m, pc, &bias);
    // The index of address ranges lacks what Clang compiled and functions without debug
    // information, for which it names a neighbour; then every unit is asked.
    if (!unit || dwarf_haspc(unit, pc - bias) <= 0) {
      unit = nullptr;
      while ((unit = dwfl_module_nextcu(m, unit, &bias)) && dwarf_haspc(unit, pc - bias) <= 0) {
      }
    }
    if (!unit) {
      a.verdict = without_lines(m, pc);
      return a;
    }
    pc -= bias;
    a.verdict = Verdict::own;
    Dwarf_Line* line = dwarf_getsrc_die(unit, pc);
    int number = 0;
    if (line && dwarf_lineno(line, &number) == 0) {
      const char* file = dwarf_linesrc(line, nullptr, nullptr);
      if (accept(unit, file, number, a)) return a;
    }
    // The scopes at an address go on where the innermost inlined function is defined; what is
    // wanted is where it was inlined: the entries around its own.
    Dwarf_Die* at_pc = nullptr;
    Dwarf_Die* scopes = nullptr;
    int count = dwarf_getscopes(unit, pc, &at_pc);
    if (count > 0) count = dwarf_getscopes_die(&at_pc[0], &scopes);
    std::free(at_pc);
    Dwarf_Files* files = nullptr;
    std::size_t file_count = 0;
    if (count > 0 && dwarf_getsrcfiles(unit, &files, &file_count) == 0) {
      for (int i = 0; i < count; ++i) {
        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine) continue;
        Dwarf_Attribute attr;
        Dwarf_Word file = 0, call_line = 0;
        if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_file, &attr), &file) != 0) continue;
        if (dwarf_formudata(dwarf_attr(&scopes[i], DW_AT_call_line, &attr), &call_line) != 0)
          continue;
        const char* name = dwarf_filesrc(files, file, nullptr, nullptr);
        if (accept(unit, name, static_cast<int>(call_line), a)) break;
      }
    }
    std::free(scopes);
    return a;
  }

  static bool accept(Dwarf_Die* unit, const char* file, int line, Answer& a) {
    if (!file || line <= 0) return false;
    std::string path = file;
    if (path[0] != '/') {
      Dwarf_Attribute attr;
      const char* base = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
      if (base) path = std::string(base) + "/" + (path.starts_with("./") ? path.substr(2) : path);
    }
    if (!is_user_file(path)) return false;
    a.verdict = Verdict::user;
    a.place = {std::move(path), line};
    return true;
  }

  /// Whether the code is a system library's, which has debug information on some machines.
  static bool is_system(Dwfl_Module* m) {
    const char* file =
        dwfl_module_info(m, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
    std::string_view name = file ? file : "";
    name.remove_prefix(name.rfind('/') + 1);  // npos + 1 is 0
    return name.starts_with("libstdc++") || name.starts_with("libc.") ||
           name.starts_with("libgcc_s") || name.starts_with("libc++");
  }
  /// Tlaloc without debug information is known by its symbols.
  static Verdict without_lines(Dwfl_Module* m, Dwarf_Addr pc) {
    const char* symbol = dwfl_module_addrname(m, pc);
    const bool own = symbol && (std::strncmp(symbol, "_ZN6tlaloc", 10) == 0 ||
                                std::strncmp(symbol, "_ZNK6tlaloc", 11) == 0);
    return own ? Verdict::own : Verdict::unknown;
  }

  Dwfl* dwfl_ = nullptr;
  std::unordered_map<Dwarf_Addr, Answer> answers_;
};

}  // namespace

Place find_user_place() {
  static std::mutex mutex;
  // Never destroyed: errors may be thrown while the process ends.
  static auto& info = *new DebugInfo;
  std::array<void*, 128> ips;
  const int n = backtrace(ips.data(), static_cast<int>(ips.size()));
  const std::lock_guard lock(mutex);
  for (int i = 1; i < n; ++i) {
    const auto& answer = info.at(ips[static_cast<std::size_t>(i)]);
    if (answer.verdict == DebugInfo::Verdict::own) continue;
    return answer.place;
  }
  return {};
}
bool can_find_places() { return true; }

#endif

}  // namespace tlaloc::core
