#include "tlaloc/base/environment.h"

#include <cstdlib>

#include "tlaloc/base/error.h"

namespace tlaloc {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

void refuse_environment(const std::string& name, const std::string& value,
                        const std::string& expected) {
  throw UserError({"TL-ENV-001",
                   name,
                   "\"" + value + "\" is not " + expected,
                   "correct or unset the environment variable",
                   {}});
}

bool environment_switch(const char* name, bool otherwise) {
  const std::string value = environment(name);
  if (!value.empty() && value != "on" && value != "off")
    refuse_environment(name, value, "on or off");
  return value.empty() ? otherwise : value == "on";
}

}  // namespace tlaloc
