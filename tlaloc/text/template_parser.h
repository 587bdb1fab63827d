// Templates from text.
#pragma once

#include <string>
#include <string_view>

#include "tlaloc/text/template_ast.h"

namespace tlaloc::text {

/// UserError TL-TEMPLATE-001 with line and column.
Nodes parse_template(std::string_view source, const std::string& name);

}  // namespace tlaloc::text
