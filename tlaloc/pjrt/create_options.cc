#include "tlaloc/pjrt/create_options.h"

namespace tlaloc::plugins {
namespace {

c::NamedValue named(const CreateOptions::value_type& option) {
  c::NamedValue v{};
  v.struct_size = c::kStructSize<c::NamedValue>;
  v.name = option.first.data();
  v.name_size = option.first.size();
  v.value_size = 1;
  if (const auto* i = std::get_if<std::int64_t>(&option.second)) {
    v.type = c::kInt64;
    v.int64_value = *i;
  } else if (const auto* b = std::get_if<bool>(&option.second)) {
    v.type = c::kBool;
    v.bool_value = *b;
  } else if (const auto* f = std::get_if<float>(&option.second)) {
    v.type = c::kFloat;
    v.float_value = *f;
  } else {
    const auto& s = std::get<std::string>(option.second);
    v.type = c::kString;
    v.string_value = s.data();
    v.value_size = s.size();
  }
  return v;
}

}  // namespace

std::vector<c::NamedValue> named_values(const CreateOptions& options) {
  std::vector<c::NamedValue> values;
  for (const auto& option : options) values.push_back(named(option));
  return values;
}

}  // namespace tlaloc::plugins
