// A module as its text says it: operations, attributes, types and places, without meaning. Views
// point into the text.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/base/host_array.h"

namespace tlaloc::stablehlo {

/// Regions, lists, dictionaries and calls nest at most so deep.
inline constexpr int kMaxDepth = 64;

/// Where in the text something stands.
using Offset = std::uint32_t;

/// The text with a name for errors.
struct Source {
  std::string_view text;
  std::string name;
  int first_line = 1;
  std::vector<Offset> lines;  ///< where each begins

  Source() = default;
  Source(std::string_view all, std::string name_for_errors, int first);
  Place place(Offset at) const;
  /// UserError TL-HLO-001: the text is no module.
  [[noreturn]] void fail(Offset at, const std::string& message, const std::string& hint = "") const;
  /// UserError TL-HLO-002: what it says is not supported.
  [[noreturn]] void unsupported(Offset at, const std::string& what, const std::string& message,
                                const std::string& hint = "") const;
};

/// A tensor type of the text; one object per type, so that equal types have equal addresses.
struct TensorSpec {
  static constexpr std::int64_t kUnknown = -1;  ///< the size `?`
  DType dtype = DType::f32;
  Extents extents;
  bool is_static() const;
  bool operator==(const TensorSpec&) const = default;
};
using SpecRef = const TensorSpec*;

struct NamedAttribute;
struct Attribute {
  enum class Kind : std::uint8_t {
    unit,
    boolean,
    integer,
    real,
    string,    ///< text: between the quotes, escapes as written
    symbol,    ///< text: without the @
    integers,  ///< a list of integers, [1, 2] or array<i64: 1, 2>
    list,
    dictionary,  ///< {a = 1}, or #stablehlo.gather<a = 1>
    dense,       ///< text: between < and >; type
    type,        ///< type; null for one that no value has, such as i32 alone
    function,    ///< a function's type: types, of which the first `integer` are params
    word,        ///< text: a bare word, or all of #stablehlo<precision DEFAULT>
  };
  Kind kind = Kind::unit;
  bool flag = false;
  Offset at = 0;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view text;
  SpecRef type = nullptr;
  std::vector<std::int64_t> integers;
  std::vector<Attribute> items;
  std::vector<NamedAttribute> fields;
  std::vector<SpecRef> types;

  /// Attributes, integers and types in it.
  std::size_t size() const;
  /// The field of a dictionary, or null.
  const Attribute* find(std::string_view name) const;
};
struct NamedAttribute {
  std::string_view name;
  Attribute value;
};

/// Values of a function are numbered in the order of their definitions, params first.
using ValueIndex = std::uint32_t;

struct Operation;
struct Block {
  ValueIndex first_param = 0, param_count = 0;
  std::vector<Operation> operations;  ///< the last one returns
};
struct Operation {
  std::string_view name;  ///< "stablehlo.add"; "return" and "call" have their dialects
  Offset at = 0;
  ValueIndex first_result = 0, result_count = 0;
  std::vector<ValueIndex> operands;
  std::vector<NamedAttribute> attributes;
  std::vector<Block> regions;

  const Attribute* find(std::string_view attribute) const;
  /// The first that is there: what pretty and generic form call differently.
  const Attribute* find(std::initializer_list<std::string_view> attributes) const;
};

/// `sdy.mesh`: what stands in its outer brackets.
struct MeshDeclaration {
  std::string_view name, text;
  Offset at = 0;
};

struct Function {
  std::string_view name;
  Offset at = 0;
  bool is_public = true;
  bool is_symbolic = false;  ///< some type in it has an unknown size
  std::size_t text_length = 0;
  std::string refusal;  ///< where not empty, why nothing below is known; the name may be, too
  Block body;
  std::vector<SpecRef> results;
  std::vector<std::string_view> param_names;  ///< "arg0"
  /// `sdy.sharding` of params and results; of kind unit where there is none.
  std::vector<Attribute> param_shardings, result_shardings;
  std::vector<SpecRef> types;  ///< by ValueIndex
  /// The operation that defines a value, by ValueIndex; null for params of functions and regions.
  std::vector<const Operation*> definitions;
  SpecRef type(ValueIndex v) const { return types[v]; }
};

struct Tree {
  Source source;
  std::string_view name;
  std::deque<TensorSpec> specs;
  std::vector<Function> functions;
  std::unordered_map<std::string_view, MeshDeclaration> meshes;  ///< by name
  std::unordered_map<std::string_view, std::size_t> function_index;
};

/// Reads a module. Errors: TL-HLO-001, TL-HLO-002. With `each`, what is refused is a function with
/// a refusal instead, and the next one is read.
Tree parse_tree(std::string_view text, const std::string& name_for_errors, int first_line,
                bool each = false);

}  // namespace tlaloc::stablehlo
