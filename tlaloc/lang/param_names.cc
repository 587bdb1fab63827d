#include "tlaloc/lang/param_names.h"

namespace tlaloc::core {

std::vector<std::string> param_names(const Leaves& args,
                                     const std::vector<std::string>& arguments) {
  const Leaves::Data& d = args.data();
  std::vector<std::string> names(d.values.size());
  for (std::size_t k = 0; k < d.argument_begin.size(); ++k) {
    const auto argument = static_cast<int>(k);
    for (int i = args.argument_begin(argument); i < args.argument_end(argument); ++i) {
      const std::string field = d.path_text(usize(i));
      const std::string name = k < arguments.size() ? arguments[k] : "";
      names[usize(i)] = name + (name.empty() || field.empty() ? "" : "_") + field;
    }
  }
  return names;
}

}  // namespace tlaloc::core
