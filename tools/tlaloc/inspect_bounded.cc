#include <fmt/format.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "tlaloc/bounded/program.h"
#include "tools/tlaloc/commands.h"
#include "tools/tlaloc/report_text.h"
#include "tools/tlaloc/terminal_text.h"

namespace tlaloc::command {
namespace {

std::string joined(const std::vector<std::int64_t>& numbers, const char* between) {
  return fmt::format("{}", fmt::join(numbers, between));
}

std::string value_text(const bounded::Manifest& m, const bounded::Value& v) {
  return plain(v.name + ": " + bounded::type_text(v, m));
}

void print_text(const bounded::Manifest& m) {
  print_line("bounded", plain(m.name));
  for (const bounded::Bound& b : m.bounds) {
    print_line("  size", plain(fmt::format("{}: {} to {}, by {}", b.name, b.least, b.most,
                                           joined(b.buckets, ", "))));
  }
  for (const bounded::Input& in : m.inputs) {
    const std::string of = in.bound ? plain(m.bounds[*in.bound].name) : "";
    switch (in.role) {
      case bounded::Role::data:
        print_line("  parameter",
                   value_text(m, in) + fmt::format("  padded with {}", in.padding) +
                       (in.result ? fmt::format(", its memory for result {}", *in.result) : ""));
        break;
      case bounded::Role::valid_length:
        print_line("  made", value_text(m, in) + "  the length of " + of);
        break;
      case bounded::Role::valid_mask:
        print_line("  made", value_text(m, in) + "  1 up to the length of " + of);
        break;
    }
  }
  for (const bounded::Value& v : m.results) print_line("  result", value_text(m, v));
  print_line("  bodies", std::to_string(m.bodies.size()));
  for (const bounded::Body& b : m.bodies) {
    print_line("    " + joined(b.sizes, " x "), plain(b.file));
  }
  print_line("  compared",
             fmt::format("at {} sizes, the largest difference {} of at most {}",
                         m.check.sizes.size(), m.check.largest_difference, m.check.tolerance));
}

}  // namespace

bool is_bounded(const std::string& folder) {
  std::error_code unreadable;
  return std::filesystem::exists(std::filesystem::path(folder) / bounded::kManifestFile,
                                 unreadable);
}

void inspect_bounded(const InspectArguments& a) {
  const bounded::Manifest m = bounded::read_manifest(a.module);
  if (a.json) {
    std::cout << m.json();
  } else {
    print_text(m);
  }
}

}  // namespace tlaloc::command
