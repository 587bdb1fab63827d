// What a program that is compiled ahead of time and its parameters are called in C.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>

#include "tlaloc/base/error.h"
#include "tlaloc/cpu/ahead_module.h"

namespace tlaloc::cpu {
namespace {

using Words = std::set<std::string, std::less<>>;

Words words(const char* text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

/// Keywords of C and C++ and what their headers and compilers define in lower case. The names that
/// begin with "_" or end with "_t" are theirs too.
const Words& reserved_words() {
  static const Words all = words(R"(
      alignas alignof and and_eq asm auto bitand bitor bool break case catch char class co_await
      co_return co_yield compl concept const const_cast consteval constexpr constinit continue
      decltype default delete do double dynamic_cast else enum explicit export extern false float
      for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator
      or or_eq private protected public register reinterpret_cast requires restrict return short
      signed sizeof static static_assert static_cast struct switch template this thread_local throw
      true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void
      volatile while xor xor_eq
      complex errno i386 imaginary linux noreturn unix I EOF NULL)");
  return all;
}

/// What C17 reserves as names of functions and objects, and what POSIX programs call beside it. A
/// program that links another function of that name gets it wherever it calls the library's.
const Words& library_names() {
  static const Words all = words(R"(
      main
      abort abs aligned_alloc at_quick_exit atexit atof atoi atol atoll bsearch calloc div exit free
      getenv labs ldiv llabs lldiv malloc mblen mbstowcs mbtowc qsort quick_exit rand realloc srand
      strtod strtof strtol strtold strtoll strtoul strtoull system wcstombs wctomb
      memchr memcmp memcpy memmove memset strcat strchr strcmp strcoll strcpy strcspn strerror
      strlen strncat strncmp strncpy strpbrk strrchr strspn strstr strtok strxfrm
      clearerr fclose feof ferror fflush fgetc fgetpos fgets fopen fprintf fputc fputs fread freopen
      fscanf fseek fsetpos ftell fwrite getc getchar gets perror printf putc putchar puts remove
      rename rewind scanf setbuf setvbuf snprintf sprintf sscanf stderr stdin stdout tmpfile tmpnam
      ungetc vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf
      isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper
      isxdigit tolower toupper
      asctime clock ctime difftime gmtime localtime mktime strftime time timespec_get
      localeconv longjmp raise setjmp setlocale signal
      call_once cnd_broadcast cnd_destroy cnd_init cnd_signal cnd_timedwait cnd_wait mtx_destroy
      mtx_init mtx_lock mtx_timedlock mtx_trylock mtx_unlock thrd_create thrd_current thrd_detach
      thrd_equal thrd_exit thrd_join thrd_sleep thrd_yield tss_create tss_delete tss_get tss_set
      feclearexcept fegetenv fegetexceptflag fegetround feholdexcept feraiseexcept fesetenv
      fesetexceptflag fesetround fetestexcept feupdateenv
      accept access bind brk chdir chmod close closedir connect dup dup2 environ execve fcntl fork
      fstat fsync ftruncate getcwd getpid getuid ioctl kill link listen lseek mkdir mmap mprotect
      munmap open opendir pause pipe poll read readdir recv rmdir sbrk select send sleep socket stat
      sysconf truncate uname unlink usleep wait waitpid write)");
  return all;
}

/// Of <math.h> and <complex.h>: each exists for float and long double too, with f and l behind it.
const Words& mathematical_names() {
  static const Words all = words(R"(
      acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1
      fabs fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10
      log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint
      round scalbln scalbn sin sinh sqrt tan tanh tgamma trunc
      cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag clog conj cpow cproj
      creal csin csinh csqrt ctan ctanh)");
  return all;
}

bool is_library_name(const std::string& s) {
  if (library_names().contains(s) || mathematical_names().contains(s)) return true;
  return (s.ends_with('f') || s.ends_with('l')) &&
         mathematical_names().contains(s.substr(0, s.size() - 1));
}

bool is_reserved(const std::string& s) {
  return reserved_words().contains(s) || s.starts_with('_') || s.ends_with("_t");
}
/// Macros are spelled in capitals: F_OK, INT64_MAX. W1 has one only, and isn't one.
bool may_be_macro(std::string_view s) {
  const auto upper = [](char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; };
  const auto lower = [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; };
  return std::ranges::count_if(s, upper) > 1 && std::ranges::none_of(s, lower);
}

bool is_identifier(std::string_view s) {
  const auto letter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  return !s.empty() && letter(s[0]) && std::ranges::all_of(s, [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c));
  });
}

class Namer {
 public:
  /// The text with what C does not take as '_'; `otherwise` where nothing is left of it.
  std::string name(std::string_view text, const std::string& otherwise) {
    std::string s;
    for (char c : text) s += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
    if (std::ranges::all_of(s, [](char c) { return c == '_'; })) s = otherwise;
    if (std::isdigit(static_cast<unsigned char>(s[0]))) s = "_" + s;
    if (s[0] == '_') s = otherwise + s;
    if (is_reserved(s) || may_be_macro(s)) s += "_";
    while (!used_.insert(s).second) s += "_";
    return s;
  }

 private:
  Words used_{"scratch", "scratch_bytes"};
};

[[noreturn]] void refuse_function(const std::string& why, const std::string& hint) {
  throw UserError({"TL-AOT-002", "compile_ahead", why, hint, {}});
}

}  // namespace

AheadNames ahead_names(const ir::Graph& g, const AheadOptions& options) {
  const std::string& function = options.function;
  if (!is_identifier(function) || is_reserved(function)) {
    refuse_function("'" + function + "' is no name of a function in C",
                    "take letters, digits and underscores, no keyword, no _ in front and no _t "
                    "behind");
  }
  if (is_library_name(function)) {
    refuse_function("'" + function + "' is a name of the C library's",
                    "a program would call this function instead: take another name");
  }
  Namer namer;
  AheadNames names{function, {}, {}, {}};
  for (ir::Symbol s : g.dims()) names.dims.push_back(namer.name(s.name(), "n"));
  for (std::size_t k = 0; k < g.param_count(); ++k) {
    const bool named = k < options.params.size() && !options.params[k].empty();
    names.params.push_back(
        namer.name(named ? options.params[k] : g.param_label(k).name, "arg" + std::to_string(k)));
  }
  for (std::size_t k = 0; k < g.results().size(); ++k) {
    const std::string number = "result" + std::to_string(k);
    const std::string& label = g.result_label(k).name;
    names.results.push_back(namer.name(label.empty() ? "" : "result_" + label, number));
  }
  return names;
}

}  // namespace tlaloc::cpu
