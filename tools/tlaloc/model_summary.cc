#include "tools/tlaloc/model_summary.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/base/json.h"
#include "tlaloc/base/utf8.h"
#include "tlaloc/io/gguf.h"
#include "tlaloc/io/recognize.h"
#include "tlaloc/io/safetensors.h"
#include "tlaloc/llm/engine.h"

namespace tlaloc::command {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

/// Longer lists of metadata, such as all tokens, are not shown.
constexpr std::size_t kShownElements = 16;

/// Text of GGUF may be any bytes, which JSON has no strings for.
std::string readable(const std::string& text) {
  if (is_utf8(text)) return text;
  std::string escaped;
  for (const unsigned char c : text) {
    escaped += c < 0x80 ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  }
  return escaped;
}

json::value json_of_list(const io::GgufArray& list);

template <class T>
json::value json_of(const T& x) {
  if constexpr (std::is_same_v<T, std::string>) {
    return json::string(readable(x));
  } else if constexpr (std::is_same_v<T, io::GgufArray>) {
    return json_of_list(x);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(x)) return json::string(fmt::format("{}", x));  // JSON has no such numbers
    // The number that it is meant to be: 1e-5, not 9.99999974e-6.
    if constexpr (std::is_same_v<T, float>) return std::stod(fmt::format("{}", x));
    return static_cast<double>(x);
  } else {
    return x;
  }
}
json::value json_of_list(const io::GgufArray& list) {
  if (list.size() > kShownElements) {
    return json::string(fmt::format("{} elements of the type {}", list.size(),
                                    io::gguf_type_name(list.elements.index())));
  }
  json::array all;
  std::visit(
      [&]<class T>(const std::vector<T>& elements) {
        for (const T& x : elements) all.push_back(json_of<T>(x));
      },
      list.elements);
  return all;
}
json::value json_of_value(const io::GgufValue& value) {
  return std::visit([](const auto& x) { return json_of(x); }, value);
}

using Names = std::pair<const char*, const char*>;  // ours, theirs

void add_decoder(const std::string& path, ModelSummary& m) {
  try {
    const llm::DecoderSpec spec = llm::open_checkpoint(path).decoder.spec;
    m.family = spec.family;
    m.context = spec.context;
    m.token_bytes = llm::token_bytes(spec);
    m.context_bytes = checked_mul(m.context, m.token_bytes);
  } catch (const Error& e) {
    m.refusal = readable(e.what());
  }
}

ModelSummary summarize_gguf(const std::string& path) {
  io::Gguf file = io::open_gguf(path);
  ModelSummary m;
  m.format = "GGUF version " + std::to_string(file.version);
  const io::GgufMetadata& data = file.metadata;
  if (const std::string* name = data.text("general.architecture")) m.architecture = readable(*name);
  for (const auto& [ours, theirs] :
       {Names("layers", "block_count"), Names("width", "embedding_length"),
        Names("feed_forward", "feed_forward_length"), Names("heads", "attention.head_count"),
        Names("kv_heads", "attention.head_count_kv"), Names("head_size", "attention.key_length"),
        Names("context", "context_length"), Names("vocabulary", "vocab_size")}) {
    const io::GgufValue* value = data.find(m.architecture + "." + theirs);
    if (value) m.sizes[ours] = json_of_value(*value);
  }
  for (const auto& [ours, theirs] : {Names("type", "model"), Names("pre_tokenizer", "pre")}) {
    const std::string* name = data.text(std::string("tokenizer.ggml.") + theirs);
    if (name) m.tokenizer[ours] = readable(*name);
  }
  for (const char* list : {"tokens", "merges"}) {
    const io::GgufArray* all = data.list(std::string("tokenizer.ggml.") + list);
    if (all) m.tokenizer[list] = all->size();
  }
  if (const std::string* text = data.text("tokenizer.chat_template")) {
    m.chat_template = readable(*text);
  }
  for (const auto& [key, value] : data.entries()) m.metadata[key] = json_of_value(value);
  m.tensors = std::move(file.tensors);
  add_decoder(path, m);
  return m;
}

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

/// The object in a file; nothing where there is no such file.
std::optional<json::object> read_object(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  const auto file = MappedFile::open("tlaloc", path.string());
  json::value v = parse_json(text_of(*file), path.string());
  if (!v.is_object()) return std::nullopt;
  return std::move(v.get_object());
}
std::string text_of(const json::object& o, const char* key) {
  const json::value* v = o.if_contains(key);
  return v && v->is_string() ? std::string(v->get_string()) : "";
}
std::size_t size_of(const json::value* v) {
  if (v && v->is_array()) return v->get_array().size();
  return v && v->is_object() ? v->get_object().size() : 0;
}

void add_config(const json::object& config, ModelSummary& m) {
  const json::value* architectures = config.if_contains("architectures");
  if (architectures && architectures->is_array() && !architectures->get_array().empty() &&
      architectures->get_array()[0].is_string()) {
    m.architecture = std::string(architectures->get_array()[0].get_string());
  } else {
    m.architecture = text_of(config, "model_type");
  }
  // Models of images and text keep the sizes of the text part apart.
  const json::value* nested = config.if_contains("text_config");
  const json::object& text = nested && nested->is_object() ? nested->get_object() : config;
  for (const auto& [ours, theirs] :
       {Names("layers", "num_hidden_layers"), Names("width", "hidden_size"),
        Names("feed_forward", "intermediate_size"), Names("heads", "num_attention_heads"),
        Names("kv_heads", "num_key_value_heads"), Names("head_size", "head_dim"),
        Names("context", "max_position_embeddings"), Names("vocabulary", "vocab_size")}) {
    const json::value* v = text.if_contains(theirs);
    if (v && v->is_int64()) m.sizes[ours] = *v;
  }
}

json::object tokenizer_of(const fs::path& folder) {
  const auto file = read_object(folder / "tokenizer.json");
  const json::value* model = file ? file->if_contains("model") : nullptr;
  if (!model || !model->is_object()) return {};
  const json::object& o = model->get_object();
  json::object tokenizer = {{"type", text_of(o, "type")},
                            {"tokens", size_of(o.if_contains("vocab"))},
                            {"added_tokens", size_of(file->if_contains("added_tokens"))}};
  if (o.contains("merges")) tokenizer["merges"] = size_of(o.if_contains("merges"));
  return tokenizer;
}

std::string chat_template_of(const fs::path& folder) {
  if (fs::exists(folder / "chat_template.jinja")) {
    const auto file = MappedFile::open("tlaloc", (folder / "chat_template.jinja").string());
    return readable(std::string(text_of(*file)));
  }
  const auto config = read_object(folder / "tokenizer_config.json");
  return config ? text_of(*config, "chat_template") : "";
}

ModelSummary summarize_safetensors(const std::string& path) {
  io::Safetensors file = io::open_safetensors(path);
  ModelSummary m;
  m.format = "safetensors";
  for (const auto& [key, text] : file.metadata) m.metadata[key] = text;
  m.tensors = std::move(file.tensors);
  const fs::path given = path;
  const bool is_folder = fs::is_directory(given);
  // A file that is not named as a folder's model is, such as an adapter, is described by others.
  const std::string name = given.filename().string();
  if (!is_folder && !name.starts_with("model.") && !name.starts_with("model-")) return m;
  const fs::path folder = is_folder ? given : given.parent_path();
  if (const auto config = read_object(folder / "config.json")) add_config(*config, m);
  // The tensors are known whatever is wrong with these.
  auto try_to = [&](auto read) {
    try {
      read();
    } catch (const Error& e) {
      m.faults.emplace_back(readable(e.what()));
    }
  };
  try_to([&] { m.tokenizer = tokenizer_of(folder); });
  try_to([&] { m.chat_template = chat_template_of(folder); });
  add_decoder(folder.string(), m);
  return m;
}

}  // namespace

ModelSummary summarize_model(const std::string& path) {
  return io::is_gguf(path) ? summarize_gguf(path) : summarize_safetensors(path);
}

}  // namespace tlaloc::command
