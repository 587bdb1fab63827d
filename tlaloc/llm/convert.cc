#include "tlaloc/llm/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <cmath>
#include <filesystem>

#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/base/json.h"
#include "tlaloc/io/dequantize.h"
#include "tlaloc/io/safetensors.h"
#include "tlaloc/llm/convert_parts.h"
#include "tlaloc/llm/family.h"

namespace tlaloc::llm {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

bool is_gguf(const std::string& path) { return path.ends_with(".gguf"); }

/// Without what formats lay out in their own way, which ConvertedTensors takes care of.
DecoderSpec without_layout(DecoderSpec s) {
  for (RopeSpec& r : s.ropes) r.interleaved = false;
  for (LayerSpec& l : s.layers) {
    for (auto* norm :
         {&l.attention_norm, &l.attention_output_norm, &l.mlp_norm, &l.mlp_output_norm}) {
      if (*norm) (*norm)->around_zero = false;
    }
    l.attention.head_norm_spec.around_zero = false;
  }
  s.norm.around_zero = false;
  return s;
}

void check_same(const DecoderSpec& from, const DecoderSpec& to) {
  if (without_layout(from) == without_layout(to)) return;
  refuse_to_convert("a " + from.family + " model with these settings is another one in that format",
                    "run the model as it is");
}

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
    check_same(checkpoint_.decoder.spec, written.decoder.spec);
    if (!checkpoint_.tokenizer) return;
    if (written.tokenizer_error) throw *written.tokenizer_error;
    // A bit of all that tokenizers treat in different ways.
    constexpr std::string_view kProbe =
        "Hello  world, it's 12345 x\u00b2\n\n\tDON'T \u0110a\u0300 \u4f60\u597d \U0001f44d.  ";
    if (written.tokenizer->encode(kProbe).ids == checkpoint_.tokenizer->encode(kProbe).ids) return;
    refuse_to_convert("the tokenizer of " + in_ + " is another one in that format",
                      "take the tokenizer.json of the model's makers");
  }

  io::TensorSource source(ConvertedTensors& tensors, const std::vector<io::TensorSpec>& specs) {
    return [this, &tensors, &specs](std::size_t i) {
      const std::span<const std::byte> bytes = tensors.bytes(specs[i].name);
      done_ += static_cast<std::int64_t>(bytes.size());
      if (options_.progress) {
        std::int64_t all = 0;
        for (const io::TensorSpec& s : specs) all += io::storage_bytes(s.storage, s.shape).value();
        options_.progress(done_, all);
      }
      return bytes;
    };
  }

  void write_folder(const json::object& config,
                    std::vector<std::pair<std::string, std::string>> files) {
    const Decoder to = read_config(config, out_ + "/config.json");
    check_same(checkpoint_.decoder.spec, to.spec);
    ConvertedTensors tensors(checkpoint_.tensors, checkpoint_.decoder, to, options_, false);
    std::vector<io::TensorSpec> specs = tensors.specs();
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
    // All in one type is what transformers loads without asking.
    const io::Storage s = specs.front().storage;
    written["torch_dtype"] = s == io::Storage::f16    ? "float16"
                             : s == io::Storage::bf16 ? "bfloat16"
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
    std::vector<std::pair<std::string, std::string>> files;
    for (const char* name :
         {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
          "vocab.json", "merges.txt", "vocab.txt", "tokenizer.model", "generation_config.json",
          "chat_template.jinja", "chat_template.json"}) {
      const fs::path path = fs::path(in_) / name;
      if (fs::exists(path)) files.emplace_back(name, read(path));
    }
    write_folder(config_of_folder(), std::move(files));
  }

  void gguf_to_folder() {
    const io::Gguf file = io::open_gguf(in_);
    json::object config;
    for (const auto& [key, value] : gguf_config(file, in_)) {
      if (!value.is_null()) config[key] = value;
    }
    const std::string type(config.at("model_type").get_string());
    // Biases are in the file or not.
    const LayerOf<Source>& first = checkpoint_.decoder.sources.layers.at(0);
    if (type == "llama" || type == "smollm3" || type == "granite" || type == "qwen3") {
      config["attention_bias"] = first.attention.query.bias.has_value();
    }
    if (type == "llama" || type == "granite") config["mlp_bias"] = first.mlp.up.bias.has_value();
    config["architectures"] = json::array{architecture(type)};
    std::vector<std::pair<std::string, std::string>> files;
    if (checkpoint_.tokenizer_error) throw *checkpoint_.tokenizer_error;
    if (checkpoint_.tokenizer) files = tokenizer_files(file.metadata);
    write_folder(config, std::move(files));
  }

  static std::string architecture(const std::string& type) {
    for (const auto& [name, known] :
         {std::pair("Llama", "llama"), std::pair("Qwen2", "qwen2"), std::pair("Qwen3", "qwen3"),
          std::pair("Gemma2", "gemma2"), std::pair("Gemma3", "gemma3_text"),
          std::pair("Phi3", "phi3"), std::pair("Olmo2", "olmo2"), std::pair("Granite", "granite"),
          std::pair("SmolLM3", "smollm3")}) {
      if (type == known) return std::string(name) + "ForCausalLM";
    }
    throw InternalError("convert: a family of GGUF without a class: " + type);
  }

  void gguf_to_gguf() {
    const io::Gguf file = io::open_gguf(in_);
    // Tensors that no weight is of, such as factors of frequencies, stay as they are.
    ConvertedTensors tensors(checkpoint_.tensors, checkpoint_.decoder, checkpoint_.decoder,
                             options_, true);
    std::vector<io::TensorSpec> specs;
    std::vector<const io::Tensor*> others;
    for (const io::Tensor& t : file.tensors.tensors()) {
      const auto converted =
          std::find_if(tensors.specs().begin(), tensors.specs().end(),
                       [&](const io::TensorSpec& s) { return s.name == t.name; });
      const bool is = converted != tensors.specs().end();
      specs.push_back(is ? *converted : io::TensorSpec(t));
      others.push_back(is ? nullptr : &t);
    }
    io::GgufMetadata metadata = file.metadata;
    set_file_type(metadata);
    const io::TensorSource weights = source(tensors, specs);
    io::write_gguf(out_, metadata, specs, [&](std::size_t i) {
      return others[i] == nullptr ? weights(i) : others[i]->bytes;
    });
  }

  void set_file_type(io::GgufMetadata& m) const {
    const io::Storage s = options_.storage.value_or(
        checkpoint_.tensors.at(checkpoint_.decoder.sources.layers.at(0).mlp.up.weight.tensor)
            .storage);
    m.set("general.file_type", file_type(s));
    if (io::block_elements(s) > 1) m.set("general.quantization_version", std::uint32_t{2});
  }

  void folder_to_gguf() {
    const DecoderSpec& spec = checkpoint_.decoder.spec;
    if (spec.family != "llama") {
      refuse_to_convert("a " + spec.family + " model can't be written to GGUF yet",
                        "Llama models can, SmolLM2 among them; convert to a folder");
    }
    const json::object config = config_of_folder();
    const AttentionSpec& attention = spec.layers.at(0).attention;
    io::GgufMetadata m;
    auto set = [&](const char* key, std::int64_t n) {
      m.set(std::string("llama.") + key, static_cast<std::uint32_t>(n));
    };
    m.set("general.architecture", std::string("llama"));
    m.set("general.name", fs::path(in_).lexically_normal().filename().string());
    set("block_count", std::ssize(spec.layers));
    set("context_length", spec.context);
    set("embedding_length", spec.width);
    set("feed_forward_length", spec.layers[0].mlp.width);
    set("attention.head_count", attention.heads);
    set("attention.head_count_kv", attention.kv_heads);
    set("attention.key_length", attention.width);
    set("attention.value_length", attention.width);
    m.set("llama.attention.layer_norm_rms_epsilon", static_cast<float>(spec.norm.epsilon));
    m.set("llama.rope.freq_base", static_cast<float>(rope_theta(config)));
    set("rope.dimension_count", attention.width);
    set("vocab_size", spec.vocabulary);
    set_file_type(m);
    if (checkpoint_.tokenizer_error) throw *checkpoint_.tokenizer_error;
    if (checkpoint_.tokenizer) add_tokenizer_of_folder(m);

    // What the file will say, without its tensors.
    Decoder to = checkpoint_.decoder;
    for (RopeSpec& r : to.spec.ropes) r.interleaved = true;
    use_gguf_names(to.sources, checkpoint_.tensors);
    restore_biases(checkpoint_.decoder.sources, to.sources);
    ConvertedTensors tensors(checkpoint_.tensors, checkpoint_.decoder, to, options_, true);
    io::Gguf planned;
    planned.metadata = m;
    std::vector<io::Tensor> shapes;
    for (const io::TensorSpec& spec_of_tensor : tensors.specs()) {
      shapes.push_back({spec_of_tensor, {}, {}, {}});
    }
    planned.tensors = io::TensorFile("TL-CONVERT-001", out_, std::move(shapes));
    check_same(spec, read_gguf_config(planned, out_).spec);
    io::write_gguf(out_, m, tensors.specs(), source(tensors, tensors.specs()));
  }

  static void restore_biases(const WeightsOf<Source>& from, WeightsOf<Source>& to) {
    auto restore = [](const LinearOf<Source>& a, LinearOf<Source>& b) {
      if (!a.bias) return;
      std::string name = b.weight.tensor;
      name.replace(name.rfind(".weight"), std::string::npos, ".bias");
      b.bias = Source{name, a.bias->shape};
    };
    for (std::size_t i = 0; i < from.layers.size(); ++i) {
      const LayerOf<Source>& a = from.layers[i];
      LayerOf<Source>& b = to.layers[i];
      restore(a.attention.query, b.attention.query);
      restore(a.attention.key, b.attention.key);
      restore(a.attention.value, b.attention.value);
      restore(a.attention.output, b.attention.output);
      restore(a.mlp.gate, b.mlp.gate);
      restore(a.mlp.up, b.mlp.up);
      restore(a.mlp.down, b.mlp.down);
    }
  }

  static double rope_theta(const json::object& config) {
    const json::value* parameters = config.if_contains("rope_parameters");
    for (const json::object* o :
         {parameters == nullptr ? nullptr : parameters->if_object(), &config}) {
      const json::value* theta = o == nullptr ? nullptr : o->if_contains("rope_theta");
      if (theta != nullptr && theta->is_number()) return theta->to_number<double>();
    }
    return 10000;
  }

  void add_tokenizer_of_folder(io::GgufMetadata& m) {
    const std::string path = (fs::path(in_) / "tokenizer.json").string();
    const text::Tokenizer& tokenizer = *checkpoint_.tokenizer;
    add_tokenizer(parse_json(read(path), path).get_object(), path,
                  checkpoint_.decoder.spec.vocabulary, m);
    for (const auto& [name, key] : {std::pair("bos", "bos"), std::pair("eos", "eos"),
                                    std::pair("unk", "unknown"), std::pair("pad", "padding")}) {
      const json::value* text =
          checkpoint_.template_variables.if_contains(std::string(name) + "_token");
      if (text == nullptr || !text->is_string()) continue;
      const text::TokenId id = tokenizer.find(text->get_string());
      if (id < 0) continue;
      m.set(fmt::format("tokenizer.ggml.{}_token_id", key), static_cast<std::uint32_t>(id));
    }
    // Another token that ends answers has a key of its own.
    for (const text::TokenId id : checkpoint_.generation.end_tokens) {
      const auto number = static_cast<std::uint32_t>(id);
      const std::optional<std::int64_t> eos = m.integer("tokenizer.ggml.eos_token_id");
      if (!eos) {
        m.set("tokenizer.ggml.eos_token_id", number);
      } else if (*eos != id && !m.integer("tokenizer.ggml.eot_token_id")) {
        m.set("tokenizer.ggml.eot_token_id", number);
      }
    }
    std::vector<text::TokenId> bare;
    tokenizer.encode_ids("a", bare);
    const std::vector<text::TokenId> ids = tokenizer.encode("a").ids;
    const auto at = std::search(ids.begin(), ids.end(), bare.begin(), bare.end());
    const auto before = at - ids.begin();
    const auto after = ids.end() - at - std::ssize(bare);
    auto is = [&](std::int64_t id, const char* key) {
      return m.integer(std::string("tokenizer.ggml.") + key) == id;
    };
    if (before < 0 || after < 0 || before > 1 || after > 1 ||
        (before == 1 && !is(ids.front(), "bos_token_id")) ||
        (after == 1 && !is(ids.back(), "eos_token_id"))) {
      refuse_to_convert(path + " adds other tokens around a text than GGUF can say",
                        "one at the beginning and one at the end is what it has");
    }
    m.set("tokenizer.ggml.add_bos_token", before == 1);
    m.set("tokenizer.ggml.add_eos_token", after == 1);
    if (const std::optional<std::string> text = chat_template()) {
      m.set("tokenizer.chat_template", *text);
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
  std::int64_t done_ = 0;
};

}  // namespace

void convert(const std::string& in, const std::string& out, const ConvertOptions& options) {
  Conversion(in, out, options).run();
}

}  // namespace tlaloc::llm
