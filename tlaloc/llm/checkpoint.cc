#include "tlaloc/llm/checkpoint.h"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_set>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/llm/checkpoint_parts.h"
#include "tlaloc/llm/leaves.h"

namespace tlaloc::llm {
namespace {

[[noreturn]] void refuse(const std::string& message, const std::string& hint) {
  throw UserError({"TL-LLM-003", "llm", message, hint, {}});
}

void check_source(const std::string& path, const Source& s, const io::TensorFile& tensors) {
  Extents due(s.shape.begin(), s.shape.end());
  if (s.tensor_rows != 0) due[0] = s.tensor_rows;
  const io::Tensor* t = tensors.find(s.tensor);
  if (t == nullptr) {
    refuse(fmt::format("{}: there is no tensor {}, which must be {}", path, json_quoted(s.tensor),
                       to_string(due)),
           "get all files of the model, of one version");
  }
  if (t->shape != due) {
    refuse(fmt::format("{} is {}, and the configuration makes it {}", io::where(*t),
                       to_string(t->shape), to_string(due)),
           "get all files of the model, of one version");
  }
}

}  // namespace

void check_sources(const std::string& path, const WeightsOf<Source>& weights,
                   const io::TensorFile& tensors, bool (*ignorable)(std::string_view name)) {
  std::unordered_set<std::string_view> used;
  each_leaf(weights, [&](const Source& s) {
    check_source(path, s, tensors);
    used.insert(s.tensor);
  });
  std::int64_t others = 0;
  const io::Tensor* first = nullptr;
  for (const io::Tensor& t : tensors.tensors()) {
    if (used.contains(t.name) || ignorable(t.name)) continue;
    if (others++ == 0) first = &t;
  }
  if (first == nullptr) return;
  refuse(fmt::format("{} is no weight of this family{}", io::where(*first),
                     others == 1 ? "" : fmt::format(", nor are {} other tensors", others - 1)),
         "the model computes something that Tlaloc does not know");
}

void read_tokenizer(Checkpoint& c, const std::function<text::Tokenizer()>& read) {
  try {
    c.tokenizer = read();
  } catch (const UserError& e) {
    c.tokenizer_error = e;
  }
}
void read_chat_template(Checkpoint& c, const std::string& text, const std::string& name) {
  try {
    c.chat_template.emplace(text, name);
  } catch (const UserError& e) {
    c.chat_template_error = e;
  }
}

Checkpoint open_checkpoint(const std::string& path, const CheckpointOptions& options) {
  std::error_code error;
  return std::filesystem::is_directory(path, error) ? open_folder(path, options)
                                                    : open_gguf_file(path, options);
}

}  // namespace tlaloc::llm
