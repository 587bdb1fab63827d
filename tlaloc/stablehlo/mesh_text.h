// Meshes and shardings as Shardy's dialect writes them; internal to stablehlo.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tlaloc/ir/region_ops.h"
#include "tlaloc/stablehlo/tree.h"

namespace tlaloc::stablehlo {

/// `["x"=2, "y"=2], device_ids=[0, 1, 3, 2]`
std::string mesh_text(const ir::Mesh& mesh);
/// `@mesh, [{"x":(1)2, ?}p1, {}], replicated={"y"}`; `name`: the mesh's symbol in the text.
std::string sharding_text(const ir::Sharding& sharding, const std::string& name);
/// The same of a value that enters or leaves a manual computation. Where the mesh has axes that are
/// not manual, dimensions are open to them.
std::string spec_text(const ir::ManualAttrs& manual, const ir::ShardSpec& spec,
                      const std::string& name);
/// `{"x", "y"}`
std::string axes_text(std::span<const std::string> axes);

/// The mesh of that name; it fails where there is none.
using FindMesh = std::function<const ir::Mesh&(std::string_view name, Offset at)>;

// What stands in the outer brackets, as views of the source. TL-HLO-001, TL-HLO-002.
ir::Mesh parse_mesh(const Source& source, std::string_view name, std::string_view text);
ir::Sharding parse_sharding(const Source& source, std::string_view text, const FindMesh& find);
/// `[<…>, <…>]`
std::vector<ir::Sharding> parse_shardings(const Source& source, std::string_view text,
                                          const FindMesh& find);
/// `{"x", "y"}`
std::vector<std::string> parse_axes(const Source& source, std::string_view text);

/// The text in the brackets of `#sdy.sharding<…>` or `<…>`; of an attribute that is neither, a
/// failure.
std::string_view in_brackets(const Source& source, const Attribute& a);

/// Devices that meet along some axes of a mesh, in the order of its places; axes may be several,
/// in the mesh's order.
std::vector<std::vector<std::int64_t>> device_groups(const ir::Mesh& mesh,
                                                     std::span<const std::string> axes);

}  // namespace tlaloc::stablehlo
