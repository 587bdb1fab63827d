#include "tlaloc/llm/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <unordered_map>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/base/json.h"
#include "tlaloc/io/dequantize.h"
#include "tlaloc/io/safetensors.h"
#include "tlaloc/llm/convert_parts.h"
#include "tlaloc/llm/gguf_keys.h"
#include "tlaloc/llm/gguf_tokenizer.h"
#include "tlaloc/text/tokenizer_json.h"

namespace tlaloc::llm {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

bool is_gguf(const std::string& path) { return path.ends_with(".gguf"); }

/// Number of general.file_type, by which programs name files.
std::uint32_t file_type(io::Storage s) {
  switch (s) {
    case io::Storage::f32:
      return 0;
    case io::Storage::f16:
      return 1;
    case io::Storage::q4_0:
      return 2;
    case io::Storage::q8_0:
      return 7;
    case io::Storage::bf16:
      return 32;
    default:
      return 1024;  // "guessed"
  }
}

/// "Q8_0 is not in safetensors".
void check_storage(const std::optional<io::Storage>& s, bool gguf) {
  if (!s) return;
  const bool known =
      io::can_quantize(*s) && (gguf ? io::gguf_number(*s).has_value() : io::in_safetensors(*s));
  if (known) return;
  throw UserError({"TL-CONVERT-002",
                   "convert",
                   fmt::format("{} can't be written to {}", io::name(*s),
                               gguf ? "GGUF" : "safetensors, which has no blocks"),
                   gguf ? "there are f32, f16, bf16, q8_0 and q4_0" : "there are f32, f16 and bf16",
                   {}});
}

class Conversion {
 public:
  Conversion(const std::string& in, const std::string& out, const ConvertOptions& options)
      : in_(in), out_(out), options_(options), checkpoint_(open_checkpoint(in)) {
    check_storage(options.storage, is_gguf(out));
  }

  void run() {
    std::error_code error;
    const bool folder = fs::is_directory(in_, error);
    // What is left of another model would become part of this one.
    if (!is_gguf(out_) && fs::exists(out_, error) && !fs::is_empty(out_, error)) {
      refuse_to_convert(out_ + " is there already, and not empty", "write to a new folder");
    }
    if (folder && is_gguf(out_)) {
      folder_to_gguf();
    } else if (folder) {
      folder_to_folder();
    } else if (is_gguf(out_)) {
      gguf_to_gguf();
    } else {
      gguf_to_folder();
    }
    check_written();
  }

 private:
  void check_written() const {
    const Checkpoint written = open_checkpoint(out_);
    check_same(checkpoint_.decoder.spec, written.decoder.spec, "that format");
  }

  /// The content of weights, and of others_.
  io::TensorSource source(ConvertedTensors& tensors, const std::vector<io::TensorSpec>& specs) {
    std::int64_t all = 0;
    for (const io::TensorSpec& s : specs) all += io::storage_bytes(s.storage, s.shape).value();
    return [this, &tensors, &specs, all](std::size_t i) {
      const auto other = others_.find(specs[i].name);
      const std::span<const std::byte> bytes =
          other != others_.end() ? other->second : tensors.bytes(specs[i]);
      done_ += static_cast<std::int64_t>(bytes.size());
      if (options_.progress) options_.progress(done_, all);
      return bytes;
    };
  }

  void write_folder(const json::object& config, const Decoder& to, FolderFiles files) {
    ConvertedTensors tensors(checkpoint_.tensors, checkpoint_.decoder, to, options_, false);
    std::vector<io::TensorSpec> specs = tensors.specs();
    const io::Storage of_weights = specs.front().storage;
    if (fs::is_directory(in_)) add_others(tensors, specs);
    io::sort_for_safetensors(specs);
    std::error_code error;
    if (fs::create_directories(out_, error); error) {
      throw EnvironmentError({"TL-FILE-001",
                              "convert",
                              "can't make the folder " + out_ + ": " + error.message(),
                              "check the path and its permissions",
                              {}});
    }
    io::SafetensorsOptions options;
    options.metadata = {{"format", "pt"}};
    options.max_shard_bytes = options_.max_shard_bytes;
    io::write_safetensors((fs::path(out_) / "model.safetensors").string(), specs,
                          source(tensors, specs), options);
    json::object written = config;
    written["torch_dtype"] = of_weights == io::Storage::f16    ? "float16"
                             : of_weights == io::Storage::bf16 ? "bfloat16"
                                                               : "float32";
    written.erase("dtype");
    files.emplace_back("config.json", json::serialize(written));
    std::vector<FileContent> contents;
    for (const auto& [name, text] : files) {
      contents.push_back({(fs::path(out_) / name).string(), std::as_bytes(std::span(text))});
    }
    write_files("convert", contents);
  }

  void folder_to_folder() {
    FolderFiles files;
    for (const char* name :
         {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
          "vocab.json", "merges.txt", "vocab.txt", "tokenizer.model", "generation_config.json",
          "chat_template.jinja", "chat_template.json"}) {
      const fs::path path = fs::path(in_) / name;
      if (fs::exists(path)) files.emplace_back(name, read(path));
    }
    write_folder(config_of_folder(), checkpoint_.decoder, std::move(files));
  }

  void gguf_to_folder() {
    const io::Gguf file = io::open_gguf(in_);
    json::object config;
    for (const auto& [key, value] : gguf_config(file, in_)) {
      if (!value.is_null()) config[key] = value;
    }
    const GgufArchitecture& architecture =
        *gguf_architecture_of(config.at("model_type").get_string());
    // Biases are in the file or not.
    const LayerOf<Source>& first = checkpoint_.decoder.sources.layers.at(0);
    if (architecture.biases.output) {
      config["attention_bias"] = first.attention.query.bias.has_value();
    }
    if (architecture.biases.mlp) config["mlp_bias"] = first.mlp.up.bias.has_value();
    config["architectures"] = json::array{architecture.made_class};
    FolderFiles files;
    if (checkpoint_.tokenizer_error) throw *checkpoint_.tokenizer_error;
    if (checkpoint_.tokenizer) {
      files = tokenizer_files(file.metadata);
      const auto& [name, text] = files.front();
      check_same(*checkpoint_.tokenizer, text::Tokenizer(text::parse_tokenizer(text, name)), in_);
    }
    const Decoder to = read_config(config, out_ + "/config.json");
    check_same(checkpoint_.decoder.spec, to.spec, "a configuration of transformers");
    write_folder(config, to, std::move(files));
  }

  void gguf_to_gguf() {
    const io::Gguf file = io::open_gguf(in_);
    ConvertedTensors tensors(checkpoint_.tensors, checkpoint_.decoder, checkpoint_.decoder,
                             options_, true);
    std::vector<io::TensorSpec> specs = tensors.specs();
    add_others(tensors, specs);
    // In the file's order.
    std::unordered_map<std::string_view, std::size_t> places;
    for (const io::Tensor& t : file.tensors.tensors()) places.emplace(t.name, places.size());
    std::ranges::sort(specs, {}, [&](const io::TensorSpec& s) { return places.at(s.name); });
    io::GgufMetadata metadata = file.metadata;
    set_file_type(metadata);
    io::write_gguf(out_, metadata, specs, source(tensors, specs));
  }

  /// Tensors of the same format that no weight is of, such as factors of frequencies and what
  /// belongs to images, stay as they are.
  void add_others(const ConvertedTensors& tensors, std::vector<io::TensorSpec>& specs) {
    for (const io::Tensor& t : checkpoint_.tensors.tensors()) {
      if (tensors.has(t.name)) continue;
      specs.push_back(t);
      others_.emplace(t.name, t.bytes);
    }
  }

  void set_file_type(io::GgufMetadata& m) const {
    const io::Storage s = options_.storage.value_or(
        checkpoint_.tensors.at(checkpoint_.decoder.sources.layers.at(0).mlp.up.weight.tensor)
            .storage);
    m.set("general.file_type", file_type(s));
    if (io::block_elements(s) > 1) m.set("general.quantization_version", std::uint32_t{2});
  }

  void folder_to_gguf() {
    GgufPlan plan = plan_gguf(checkpoint_.decoder, out_);
    io::GgufMetadata& m = plan.metadata;
    // Without the slash that may end it.
    const fs::path folder = fs::path(in_ + "/").lexically_normal().parent_path();
    m.set("general.name", folder.filename().string());
    set_file_type(m);
    if (checkpoint_.tokenizer_error) throw *checkpoint_.tokenizer_error;
    if (checkpoint_.tokenizer) {
      add_tokenizer_of_folder(m);
    } else {
      check_without_tokenizer();
    }
    ConvertedTensors tensors(checkpoint_.tensors, checkpoint_.decoder, plan.decoder, options_,
                             true);
    std::vector<io::TensorSpec> specs(plan.factors.begin(), plan.factors.end());
    for (const io::Tensor& t : plan.factors) others_.emplace(t.name, t.bytes);
    specs.insert(specs.end(), tensors.specs().begin(), tensors.specs().end());
    io::write_gguf(out_, m, specs, source(tensors, specs));
  }

  void add_tokenizer_of_folder(io::GgufMetadata& m) {
    const fs::path path = fs::path(in_) / "tokenizer.json";
    add_tokenizer(checkpoint_, read(path), path.string(), m);
    check_same(*checkpoint_.tokenizer, tokenizer_of(m), in_);
    if (const std::optional<std::string> text = chat_template()) {
      m.set("tokenizer.chat_template", *text);
    }
  }

  /// What older models have in its place would get lost.
  void check_without_tokenizer() const {
    for (const char* name : {"tokenizer.model", "vocab.json", "vocab.txt"}) {
      if (!fs::exists(fs::path(in_) / name)) continue;
      refuse_to_convert(fmt::format("{} has {}, and no tokenizer.json", in_, name),
                        "make one with transformers: AutoTokenizer.from_pretrained(…) and "
                        "save_pretrained(…)");
    }
  }

  std::optional<std::string> chat_template() const {
    const fs::path file = fs::path(in_) / "chat_template.jinja";
    if (fs::exists(file)) return read(file);
    const fs::path config = fs::path(in_) / "tokenizer_config.json";
    if (!fs::exists(config)) return std::nullopt;
    const json::value v = parse_json(read(config), config.string());
    const json::value* text = v.is_object() ? v.get_object().if_contains("chat_template") : nullptr;
    if (text == nullptr) return std::nullopt;
    if (!text->is_string()) {
      refuse_to_convert(config.string() + " has several chat templates", "leave one");
    }
    return std::string(text->get_string());
  }

  json::object config_of_folder() const {
    const std::string path = (fs::path(in_) / "config.json").string();
    return parse_json(read(path), path).get_object();
  }
  static std::string read(const fs::path& path) {
    const auto file = MappedFile::open("convert", path.string());
    return {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()};
  }

  std::string in_, out_;
  const ConvertOptions& options_;
  Checkpoint checkpoint_;
  std::unordered_map<std::string, std::span<const std::byte>> others_;  // that are no weights
  std::int64_t done_ = 0;
};

}  // namespace

void convert(const std::string& in, const std::string& out, const ConvertOptions& options) {
  Conversion(in, out, options).run();
}

}  // namespace tlaloc::llm
