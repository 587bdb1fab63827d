// A checkpoint in a folder, as transformers writes it.
#include <boost/json/string.hpp>
#include <filesystem>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/base/json.h"
#include "tlaloc/io/safetensors.h"
#include "tlaloc/llm/checkpoint_parts.h"
#include "tlaloc/llm/config.h"
#include "tlaloc/llm/leaves.h"
#include "tlaloc/text/tokenizer_json.h"

namespace tlaloc::llm {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

std::string read_text(const fs::path& path) {
  const auto file = MappedFile::open("llm", path.string());
  return {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()};
}

json::object read_object(const fs::path& path) {
  json::value v = parse_json(read_text(path), path.string());
  if (!v.is_object()) {
    throw UserError(
        {"TL-LLM-002", "llm", path.string() + " is no JSON object", "get the file anew", {}});
  }
  return std::move(v.get_object());
}
/// Empty where there is no such file.
json::object read_optional_object(const fs::path& path) {
  return fs::exists(path) ? read_object(path) : json::object();
}

/// The weights of a model with more parts than text have another name before them.
void find_prefix(WeightsOf<Source>& weights, const io::TensorFile& tensors) {
  const std::string canonical = "model.";
  for (const std::string prefix :
       {"model.", "language_model.model.", "model.language_model.", ""}) {
    if (tensors.find(prefix + "embed_tokens.weight") == nullptr) continue;
    weights = map_leaves<Source>(weights, [&](Source s) {
      if (s.tensor.starts_with(canonical)) s.tensor.replace(0, canonical.size(), prefix);
      return s;
    });
    break;
  }
  const std::string inner = "language_model.lm_head.weight";
  if (weights.head && tensors.find(inner) != nullptr) weights.head->tensor = inner;
}

/// Tables that older files have, images, and what predicts more tokens than the next.
bool of_other_parts(std::string_view name) {
  if (name.ends_with("rotary_emb.inv_freq")) return true;
  for (const std::string_view prefix :
       {"vision_tower.", "vision_model.", "visual.", "multi_modal_projector.", "mtp."}) {
    if (name.starts_with(prefix)) return true;
    if (name.starts_with("model.") && name.substr(6).starts_with(prefix)) return true;
  }
  return name.starts_with("model.vision_adapter.") || name.starts_with("model.vision_projection.");
}

/// A head that is tied may be there all the same, as a copy.
bool has_copy(const io::TensorFile& tensors, const Decoder& d, std::string_view name) {
  const io::Tensor* head = tensors.find(name);
  const io::Tensor* embedding = tensors.find(d.sources.embedding.tensor);
  return !d.sources.head && head != nullptr && embedding != nullptr &&
         head->storage == embedding->storage && head->shape == embedding->shape &&
         std::equal(head->bytes.begin(), head->bytes.end(), embedding->bytes.begin());
}

/// As text, or as an object with its text and how it is matched.
std::optional<std::string> token_text(const json::value& v) {
  const json::value* content = v.is_object() ? v.get_object().if_contains("content") : &v;
  if (content == nullptr || !content->is_string()) return std::nullopt;
  return std::string(content->get_string());
}

/// The text of a tokenizer_config.json: one template, or several with names.
std::optional<std::string> template_of(const json::object& config) {
  const json::value* v = config.if_contains("chat_template");
  if (v == nullptr) return std::nullopt;
  if (v->is_string()) return std::string(v->get_string());
  if (v->is_object()) {
    const json::value* named = v->get_object().if_contains("default");
    return named == nullptr ? std::nullopt : token_text(*named);
  }
  if (!v->is_array()) return std::nullopt;
  for (const json::value& element : v->get_array()) {
    const json::object* o = element.if_object();
    const json::value* name = o == nullptr ? nullptr : o->if_contains("name");
    const json::value* text = o == nullptr ? nullptr : o->if_contains("template");
    if (name != nullptr && *name == "default" && text != nullptr) return token_text(*text);
  }
  return std::nullopt;
}

void add_end_tokens(const json::object& o, const std::string& name, std::int64_t vocabulary,
                    std::vector<text::TokenId>& ids) {
  Config c(o, name);
  const json::value* v = c.find("eos_token_id");
  if (v == nullptr) return;
  const json::array all = v->is_array() ? v->get_array() : json::array{*v};
  for (const json::value& one : all) {
    const std::int64_t* id = one.if_int64();
    if (id == nullptr || *id < 0 || *id >= vocabulary) {
      c.contradict("eos_token_id", "it must be a token, or a list of them");
    }
    ids.push_back(static_cast<text::TokenId>(*id));
  }
}

GenerationDefaults generation_of(const fs::path& folder, const json::object& config,
                                 std::int64_t vocabulary) {
  GenerationDefaults g;
  const fs::path path = folder / "generation_config.json";
  const json::object o = read_optional_object(path);
  add_end_tokens(o, path.string(), vocabulary, g.end_tokens);
  if (g.end_tokens.empty()) {
    const json::value* nested = config.if_contains("text_config");
    const std::string name = (folder / "config.json").string();
    add_end_tokens(config, name, vocabulary, g.end_tokens);
    if (nested != nullptr && nested->is_object() && g.end_tokens.empty()) {
      add_end_tokens(nested->get_object(), name, vocabulary, g.end_tokens);
    }
  }
  Config c(o, path.string());
  g.repetition_penalty = c.number("repetition_penalty");
  if (!c.flag("do_sample", false)) return g;  // what follows is not used then
  g.temperature = c.number("temperature").value_or(1);
  g.top_p = c.number("top_p");
  g.min_p = c.number("min_p");
  g.typical_p = c.number("typical_p");
  g.top_k = c.integer("top_k");
  return g;
}

}  // namespace

Checkpoint open_folder(const std::string& path, const CheckpointOptions& options) {
  const fs::path folder = path;
  const json::object config = read_object(folder / "config.json");
  Checkpoint c;
  c.path = path;
  c.decoder = read_config(config, (folder / "config.json").string(), options);
  c.tensors = io::open_safetensors(path).tensors;
  find_prefix(c.decoder.sources, c.tensors);
  const char* head = "lm_head.weight";
  check_sources(path, c.decoder.sources, c.tensors,
                has_copy(c.tensors, c.decoder, head)
                    ? [](std::string_view n) { return n == "lm_head.weight" || of_other_parts(n); }
                    : of_other_parts);
  c.generation = generation_of(folder, config, c.decoder.spec.vocabulary);

  if (fs::exists(folder / "tokenizer.json")) {
    read_tokenizer(c, [&] { return text::load_tokenizer(path); });
  }
  const json::object tokenizer = read_optional_object(folder / "tokenizer_config.json");
  const json::object special = read_optional_object(folder / "special_tokens_map.json");
  for (const char* name : {"bos_token", "eos_token", "unk_token", "sep_token", "pad_token",
                           "cls_token", "mask_token"}) {
    for (const json::object* o : {&tokenizer, &special}) {
      const json::value* v = o->if_contains(name);
      const std::optional<std::string> token = v == nullptr ? std::nullopt : token_text(*v);
      if (token && !c.template_variables.contains(name)) c.template_variables[name] = *token;
    }
  }
  const fs::path jinja = folder / "chat_template.jinja";
  if (fs::exists(jinja)) {
    read_chat_template(c, read_text(jinja), jinja.string());
  } else if (const std::optional<std::string> text = template_of(tokenizer)) {
    read_chat_template(c, *text, (folder / "tokenizer_config.json").string());
  }
  return c;
}

}  // namespace tlaloc::llm
