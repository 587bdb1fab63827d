// Any text is refused by a code of its own, or is a manifest that its own text says again, with
// bodies for all sizes.
#include <cstdint>
#include <cstdlib>

#include "tlaloc/base/error.h"
#include "tlaloc/bounded/manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tlaloc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  bounded::Manifest m;
  try {
    m = bounded::parse_manifest(text, "m");
  } catch (const UserError& e) {
    if (e.code() != "TL-BOUNDED-002" && e.code() != "TL-JSON-001") std::abort();
    return 0;
  }
  if (bounded::parse_manifest(m.json(), "m") != m) std::abort();
  std::vector<std::int64_t> least, most;
  for (const bounded::Bound& b : m.bounds) {
    least.push_back(b.least);
    most.push_back(b.most);
  }
  if (m.body_for(least) != 0 || m.body_for(most) + 1 != m.bodies.size()) std::abort();
  return 0;
}
