// GGUF as llama.cpp writes it: metadata becomes the configuration that transformers would have, so
// that a family is read in one way, and the weights get the names of the file.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <span>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/io/dequantize.h"
#include "tlaloc/llm/family.h"

namespace tlaloc::llm {
namespace {

namespace json = boost::json;

/// Keys behind the architecture's name, and those of transformers that say the same.
struct Key {
  std::string_view gguf, config;
};
constexpr Key kSizes[] = {
    {"block_count", "num_hidden_layers"},
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
};
constexpr Key kNumbers[] = {
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"rope.freq_base", "rope_theta"},
};
constexpr Key kWindow[] = {
    {"attention.sliding_window", "sliding_window"},
};
constexpr Key kGemmaSizes[] = {
    {"attention.sliding_window", "sliding_window"},
    {"attention.sliding_window_pattern", "sliding_window_pattern"},
};
constexpr Key kGemma2Numbers[] = {
    {"attn_logit_softcapping", "attn_logit_softcapping"},
    {"final_logit_softcapping", "final_logit_softcapping"},
};
constexpr Key kGemma3Numbers[] = {
    {"final_logit_softcapping", "final_logit_softcapping"},
    {"rope.freq_base_swa", "rope_local_base_freq"},
};
constexpr Key kGraniteNumbers[] = {
    {"attention.scale", "attention_multiplier"},
    {"embedding_scale", "embedding_multiplier"},
    {"residual_scale", "residual_multiplier"},
    {"logit_scale", "logits_scaling"},
};

struct Architecture {
  std::string_view name, model_type;
  bool interleaved = false;  ///< rows of queries and keys lie so that pairs are (2i, 2i + 1)
  std::span<const Key> sizes = {}, numbers = {};  ///< beside those of all
  /// Of Gemma, whose files don't say it: the number of layers of the model whose scores are scaled
  /// by its width over its heads, not by the elements of a head.
  std::int64_t layers_scaled_by_width = 0;
};
constexpr Architecture kArchitectures[] = {
    {"llama", "llama", true},
    {"qwen2", "qwen2"},
    {"qwen3", "qwen3"},
    {"gemma2", "gemma2", false, kWindow, kGemma2Numbers, 46},
    {"gemma3", "gemma3_text", false, kGemmaSizes, kGemma3Numbers, 62},
    {"phi3", "phi3", false, kWindow},
    {"olmo2", "olmo2"},
    {"granite", "granite", true, {}, kGraniteNumbers},
    {"smollm3", "smollm3", true},
};

class Reader {
 public:
  Reader(const io::Gguf& file, std::string name) : file_(file), name_(std::move(name)) {}

  /// The configuration that transformers would have.
  json::object config() {
    read_keys();
    return std::move(config_);
  }

  Decoder read(const CheckpointOptions& options) {
    read_keys();
    Config c(config_, name_, names_);
    Decoder d = read_family(c, options);
    for (RopeSpec& rope : d.spec.ropes) {
      rope.interleaved = architecture_->interleaved;
      divide(rope, "rope_freqs.weight");
    }
    for (LayerSpec& l : d.spec.layers) {
      for (auto* norm :
           {&l.attention_norm, &l.attention_output_norm, &l.mlp_norm, &l.mlp_output_norm}) {
        if (*norm) (*norm)->around_zero = false;  // 1 is in the weights
      }
      l.attention.head_norm_spec.around_zero = false;
    }
    d.spec.norm.around_zero = false;
    use_gguf_names(d.sources, file_.tensors);
    return d;
  }

 private:
  void read_keys() {
    const std::string* architecture = file_.metadata.text("general.architecture");
    const std::string given = architecture == nullptr ? "" : *architecture;
    std::string known;
    for (const Architecture& a : kArchitectures) {
      known += (known.empty() ? "" : ", ") + std::string(a.name);
      if (a.name == given) architecture_ = &a;
    }
    if (architecture_ == nullptr) {
      throw UserError({"TL-LLM-001",
                       "llm",
                       fmt::format("{}: general.architecture is {}, which is not supported", name_,
                                   json_quoted(given)),
                       "supported: " + known,
                       {}});
    }
    collect();
    refuse_others();
  }
  std::string key(std::string_view name) {
    std::string full = std::string(architecture_->name) + "." + std::string(name);
    asked_.insert(full);
    return full;
  }
  std::optional<double> number(std::string_view name) {
    std::optional<double> x = file_.metadata.number(key(name));
    const io::GgufValue* value = file_.metadata.find(key(name));
    if (x && std::isfinite(*x) && std::holds_alternative<float>(*value)) {
      // The number that was meant: 1e-5, not what f32 makes of it.
      const std::string shortest = fmt::format("{}", std::get<float>(*value));
      std::from_chars(shortest.data(), shortest.data() + shortest.size(), *x);
    }
    return x;
  }
  void set(std::string_view config, std::string_view gguf, json::value value) {
    config_[config] = std::move(value);
    names_[std::string(config)] = key(gguf);
  }

  void collect() {
    config_["model_type"] = std::string(architecture_->model_type);
    for (const auto& [gguf, config] : kSizes) {
      const std::optional<std::int64_t> n = file_.metadata.integer(key(gguf));
      set(config, gguf, n ? json::value(*n) : json::value());
    }
    for (const auto& [gguf, config] : architecture_->sizes) {
      // 0 is for none.
      const std::optional<std::int64_t> n = file_.metadata.integer(key(gguf));
      if (n) set(config, gguf, *n == 0 ? json::value() : json::value(*n));
    }
    for (const std::span<const Key> keys :
         {std::span<const Key>(kNumbers), architecture_->numbers}) {
      for (const auto& [gguf, config] : keys) {
        if (const std::optional<double> x = number(gguf)) set(config, gguf, *x);
      }
    }
    if (!config_.contains("rope_theta")) config_["rope_theta"] = 10000.0;
    for (const Key& k : {kSizes[0], kSizes[1], kSizes[2], kSizes[3], kSizes[4], kNumbers[0]}) {
      if (config_[k.config].is_null()) missing(key(k.gguf));
    }
    const io::Tensor* embedding = file_.tensors.find("token_embd.weight");
    if (embedding == nullptr || embedding->shape.size() != 2) missing("token_embd.weight");
    config_["vocab_size"] = embedding->shape[0];
    config_["tie_word_embeddings"] = file_.tensors.find("output.weight") == nullptr;
    collect_head();
    collect_scaling();
    // Of the tokenizer, whose tokens are counted by the embedding.
    key("vocab_size");
  }

  void collect_head() {
    const json::value& width = config_["head_dim"];
    const std::optional<std::int64_t> values =
        file_.metadata.integer(key("attention.value_length"));
    const std::int64_t heads = config_["num_attention_heads"].get_int64();
    const std::int64_t whole = config_["hidden_size"].get_int64();
    const std::int64_t size =
        width.is_int64() ? width.get_int64() : whole / std::max<std::int64_t>(heads, 1);
    if (architecture_->layers_scaled_by_width != 0) {
      const bool by_width = config_["num_hidden_layers"] == architecture_->layers_scaled_by_width;
      config_["query_pre_attn_scalar"] = by_width ? whole / std::max<std::int64_t>(heads, 1) : size;
    }
    if (architecture_->model_type == "granite" && !config_.contains("attention_multiplier")) {
      config_["attention_multiplier"] = 1 / std::sqrt(static_cast<double>(size));
    }
    if (values && *values != size) {
      contradict("attention.value_length", *values,
                 fmt::format("keys have {} elements: it must be as many", size));
    }
    const std::optional<std::int64_t> turned = file_.metadata.integer(key("rope.dimension_count"));
    if (!turned || *turned == size) return;
    if (*turned < 2 || *turned > size) {
      contradict("rope.dimension_count", *turned,
                 fmt::format("it must be from 2 to {}, the elements of a head", size));
    }
    // Rounded up, so that times the size it is the count, or a little more.
    set("partial_rotary_factor", "rope.dimension_count",
        std::nextafter(static_cast<double>(*turned) / static_cast<double>(size), 2.0));
  }

  void collect_scaling() {
    const std::string* type = file_.metadata.text(key("rope.scaling.type"));
    const std::optional<double> factor = number("rope.scaling.factor");
    const std::optional<double> old = number("rope.scale_linear");
    const std::optional<std::int64_t> first =
        file_.metadata.integer(key("rope.scaling.original_context_length"));
    // Of Granite it says whether there are positions; of others, how the model was made.
    const bool finetuned = file_.metadata.boolean(key("rope.scaling.finetuned")).value_or(true);
    if (architecture_->model_type == "granite" && !finetuned) {
      throw UserError({"TL-LLM-001",
                       "llm",
                       fmt::format("{}: {} is false, which is not supported", name_,
                                   key("rope.scaling.finetuned")),
                       "supported: true, for layers that know positions",
                       {}});
    }
    names_["factor"] = key(factor || !old ? "rope.scaling.factor" : "rope.scale_linear");
    names_["original_max_position_embeddings"] = key("rope.scaling.original_context_length");
    const bool long_rope = is_longrope(type);
    std::string named = long_rope ? "longrope" : factor || old ? "linear" : "none";
    if (type != nullptr) named = *type;
    if (long_rope && named == "longrope") {
      // llama.cpp would divide by it too.
      if (const double x = factor ? *factor : old.value_or(1); x != 1) {
        throw UserError({"TL-LLM-001",
                         "llm",
                         fmt::format("{}: {} is {} beside factors of frequencies, which is not "
                                     "supported",
                                     name_, names_["factor"], x),
                         "supported: 1",
                         {}});
      }
      return collect_longrope(first);
    }
    if (named == "none" && !long_rope) return;
    if (long_rope || (named != "linear" && named != "yarn")) {
      throw UserError({"TL-LLM-001",
                       "llm",
                       fmt::format("{}: {} is {}, which is not supported", name_,
                                   key("rope.scaling.type"), json_quoted(named)),
                       long_rope ? "supported with factors of frequencies: longrope"
                                 : "supported: none, linear, yarn",
                       {}});
    }
    json::object scaling = {{"rope_type", named}};
    if (factor || old) scaling["factor"] = factor ? *factor : *old;
    if (named == "yarn") {
      if (first) scaling["original_max_position_embeddings"] = *first;
      for (const char* beta : {"beta_fast", "beta_slow"}) {
        const std::string gguf = fmt::format("rope.scaling.yarn_{}", beta);
        if (const std::optional<double> turns = number(gguf)) scaling[beta] = *turns;
        names_[beta] = key(gguf);
      }
    }
    config_["rope_scaling"] = std::move(scaling);
  }

  /// Two tensors of factors stand for it, whether its name is there or not.
  bool is_longrope(const std::string* type) {
    if (architecture_->model_type != "phi3") return false;
    return (type != nullptr && *type == "longrope") ||
           number("rope.scaling.attn_factor").value_or(1) != 1 ||
           file_.tensors.find("rope_factors_short.weight") != nullptr ||
           file_.tensors.find("rope_factors_long.weight") != nullptr;
  }

  void collect_longrope(std::optional<std::int64_t> first) {
    const io::Tensor* short_factors = file_.tensors.find("rope_factors_short.weight");
    const io::Tensor* long_factors = file_.tensors.find("rope_factors_long.weight");
    const std::optional<double> attention = number("rope.scaling.attn_factor");
    if (short_factors == nullptr) missing("rope_factors_short.weight");
    if (long_factors == nullptr) missing("rope_factors_long.weight");
    json::object scaling = {{"rope_type", "longrope"}};
    for (const auto& [name, tensor] :
         {std::pair("short_factor", short_factors), std::pair("long_factor", long_factors)}) {
      const std::vector<float> factors = floats(*tensor);
      scaling[name] = json::array(factors.begin(), factors.end());
      names_[name] = tensor->name;
    }
    if (attention) scaling["attention_factor"] = *attention;
    names_["attention_factor"] = key("rope.scaling.attn_factor");
    if (first) config_["original_max_position_embeddings"] = *first;
    config_["rope_scaling"] = std::move(scaling);
  }

  /// The numbers of a short tensor.
  std::vector<float> floats(const io::Tensor& t) const {
    if (t.storage != io::Storage::f32 || t.shape.size() != 1 || t.shape[0] > kMostSize) {
      throw UserError({"TL-LLM-003",
                       "llm",
                       fmt::format("{} is {}{}, where F32 of one axis is due", io::where(t),
                                   io::name(t.storage), to_string(t.shape)),
                       "get the model anew",
                       {}});
    }
    std::vector<float> values(static_cast<std::size_t>(t.shape[0]));
    io::dequantize(t.storage, t.bytes, values, io::where(t));
    return values;
  }

  /// Frequencies by the factors of a tensor, where there is one.
  void divide(RopeSpec& rope, const char* name) const {
    const io::Tensor* t = file_.tensors.find(name);
    if (t == nullptr) return;
    const std::vector<float> factors = floats(*t);
    const bool fits = factors.size() == rope.frequencies.size();
    for (std::size_t i = 0; fits && i < factors.size(); ++i) {
      rope.frequencies[i] /= factors[i];
      if (factors[i] > 0 && std::isfinite(rope.frequencies[i])) continue;
      throw UserError({"TL-LLM-002",
                       "llm",
                       fmt::format("{} has {} at {}", io::where(*t), factors[i], i),
                       "its numbers must be above 0",
                       {}});
    }
    if (!fits) {
      throw UserError({"TL-LLM-003",
                       "llm",
                       fmt::format("{} is {}, and the configuration makes it [{}]", io::where(*t),
                                   to_string(t->shape), rope.frequencies.size()),
                       "get the model anew",
                       {}});
    }
  }

  /// Keys that start with the architecture's name are about what is computed.
  void refuse_others() const {
    const std::string prefix = std::string(architecture_->name) + ".";
    for (const auto& [key, value] : file_.metadata.entries()) {
      if (!key.starts_with(prefix) || asked_.contains(key)) continue;
      throw UserError({"TL-LLM-001",
                       "llm",
                       fmt::format("{}: the key {} is not supported", name_, json_quoted(key)),
                       "Tlaloc does not know this key, which may change what the model computes",
                       {}});
    }
  }

  [[noreturn]] void missing(const std::string& what) const {
    throw UserError(
        {"TL-LLM-002", "llm", fmt::format("{}: {} is missing", name_, what), "get it anew", {}});
  }
  [[noreturn]] void contradict(std::string_view name, std::int64_t value, const std::string& what) {
    throw UserError(
        {"TL-LLM-002", "llm", fmt::format("{}: {} is {}", name_, key(name), value), what, {}});
  }

  const io::Gguf& file_;
  std::string name_;
  const Architecture* architecture_ = nullptr;
  json::object config_;
  Config::Names names_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace

Decoder read_gguf_config(const io::Gguf& file, const std::string& name,
                         const CheckpointOptions& options) {
  return Reader(file, name).read(options);
}

json::object gguf_config(const io::Gguf& file, const std::string& name) {
  return Reader(file, name).config();
}

}  // namespace tlaloc::llm
