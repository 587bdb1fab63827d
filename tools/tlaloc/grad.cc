#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <numeric>
#include <span>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/stablehlo/emit.h"
#include "tlaloc/transform/api.h"
#include "tools/tlaloc/module.h"

namespace tlaloc::command {
namespace {

/// The parameters to differentiate by: "0,3", or names.
transform::Mask wanted(const ir::Graph& g, const std::vector<std::string>& texts) {
  const transform::Mask possible = transform::differentiable_params(g);
  if (texts.empty()) return possible;
  transform::Mask mask(g.param_count(), false);
  for (const std::string& text : texts) {
    std::size_t k = 0;
    const char* end = text.data() + text.size();
    const auto r = std::from_chars(text.data(), end, k);
    if (r.ec != std::errc() || r.ptr != end) {
      k = 0;
      while (k < g.param_count() && g.param_label(k).name != text) ++k;
    }
    if (k >= g.param_count() || !possible[k]) {
      throw UserError(
          {"TL-GRAD-008",
           "tlaloc",
           k >= g.param_count()
               ? "there is no parameter '" + text + "' among the " + std::to_string(g.param_count())
               : "the parameter " + text + " is " +
                     g.type(static_cast<ir::ValueId>(k)).to_string() + ", which has no derivative",
           "`tlaloc inspect` prints what the function takes",
           {}});
    }
    mask[k] = true;
  }
  return mask;
}

}  // namespace

void grad(const GradArguments& a) {
  const stablehlo::ImportedFunction f = read_function(a);
  if (a.result >= f.result_count) {
    throw UserError({"TL-GRAD-008",
                     "tlaloc",
                     fmt::format("there is no result {} among the {}", a.result, f.result_count),
                     "`tlaloc inspect` prints what the function gives",
                     {}});
  }
  const ir::GraphRef scalar = with_results(f.graph, std::span(&a.result, 1));
  ir::GraphRef g = transform::value_and_grad(scalar, wanted(*scalar, a.wrt));
  if (!a.value) {
    std::vector<std::size_t> gradients(g->results().size() - 1);
    std::iota(gradients.begin(), gradients.end(), std::size_t{1});
    g = with_results(g, gradients);
  }
  const std::vector<std::int64_t> sizes = all_sizes(*g, read_dims(*g, a.dims));
  const stablehlo::Emitted e = stablehlo::emit(*g, sizes, {.recorded_trips = a.recorded_trips});
  if (e.exceeded) {
    std::cerr << fmt::format(
        "tlaloc: result {} of the module is a bool: whether a loop took more than {} trips, so "
        "that the gradient is wrong\n",
        *e.exceeded, a.recorded_trips);
  }
  if (a.output.empty()) {
    std::cout << e.text;
  } else {
    write_files("tlaloc", {{a.output, std::as_bytes(std::span(e.text))}});
  }
}

}  // namespace tlaloc::command
