// The tiny models of goldens/, whose weights are a formula.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tlaloc/io/tensor_file.h"
#include "tlaloc/llm/model.h"
#include "tlaloc/text/encoding.h"

namespace tlaloc::llm {

struct Golden {
  struct Recipe {
    Extents shape;
    float base, scale;
  };
  using Rows = std::vector<std::vector<float>>;

  boost::json::object config;
  std::map<std::string, Recipe> tensors;
  std::vector<text::TokenId> ids, step_ids;
  std::vector<std::size_t> positions;
  Rows logits, step_logits;
};
/// Of tests/llm/goldens; make_families.py says what it has.
Golden read_golden(const std::string& name);
std::vector<std::string> golden_names();

std::vector<float> tensor_values(const std::string& name, const Golden::Recipe& recipe);
/// The checkpoint as transformers writes it, in a folder that is there.
void write_checkpoint(const Golden& golden, const std::string& folder);
/// What is read of that.
std::shared_ptr<const Model> load_golden(const std::string& name, const Golden& golden);

}  // namespace tlaloc::llm
