// GGUF as llama.cpp writes it: metadata becomes the configuration that transformers would have, so
// that a family is read in one way, and the weights get the names of the file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/io/dequantize.h"
#include "tlaloc/llm/family.h"
#include "tlaloc/llm/gguf_keys.h"

namespace tlaloc::llm {
namespace {

namespace json = boost::json;

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
    for (RopeSpec& rope : d.spec.ropes) divide(rope);
    const auto turned = static_cast<std::int64_t>(2 * d.spec.ropes[0].frequencies.size());
    for (LayerSpec& l : d.spec.layers) {
      // Layers without positions too: their rows lie as those of the others.
      if (architecture_->interleaved) l.attention.interleaved = turned;
      for (auto* norm :
           {&l.attention_norm, &l.attention_output_norm, &l.mlp_norm, &l.mlp_output_norm}) {
        if (*norm) (*norm)->around_zero = false;  // 1 is in the weights
      }
      l.attention.head_norm_spec.around_zero = false;
    }
    d.spec.norm.around_zero = false;
    use_gguf_names(d.sources);
    find_gguf_biases(d.sources, file_.tensors);
    return d;
  }

 private:
  void read_keys() {
    const std::string* architecture = file_.metadata.text("general.architecture");
    const std::string given = architecture == nullptr ? "" : *architecture;
    std::string known;
    for (const GgufArchitecture& a : gguf_architectures()) {
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
    return meant_number(file_.metadata, key(name));
  }
  void set(std::string_view config, std::string_view gguf, json::value value) {
    config_[config] = std::move(value);
    names_[std::string(config)] = key(gguf);
  }

  void collect(const GgufKey& k) {
    if (k.kind == GgufKind::number || k.kind == GgufKind::optional_number) {
      if (const std::optional<double> x = number(k.gguf)) set(k.config, k.gguf, *x);
    } else {
      const std::optional<std::int64_t> n = file_.metadata.integer(key(k.gguf));
      const bool none = k.kind == GgufKind::window && n == 0;
      if (n || k.kind == GgufKind::optional_size) {
        set(k.config, k.gguf, n && !none ? json::value(*n) : json::value());
      }
    }
    const bool due = k.kind == GgufKind::size || k.kind == GgufKind::number;
    if (due && !config_.contains(k.config)) missing(key(k.gguf));
  }

  void collect() {
    config_["model_type"] = std::string(architecture_->model_type);
    for (const GgufKey& k : gguf_common_keys()) collect(k);
    for (const GgufKey& k : architecture_->keys) collect(k);
    if (!config_.contains("rope_theta")) config_["rope_theta"] = 10000.0;
    const io::Tensor* embedding = file_.tensors.find("token_embd.weight");
    if (embedding == nullptr || embedding->shape.size() != 2) missing("token_embd.weight");
    config_["vocab_size"] = embedding->shape[0];
    config_["tie_word_embeddings"] = file_.tensors.find("output.weight") == nullptr;
    collect_head();
    collect_scaling();
    // Of the tokenizer, whose tokens are counted by the embedding.
    key(gguf_key::kVocabulary);
  }

  void collect_head() {
    const json::value& width = config_["head_dim"];
    const std::optional<std::int64_t> values = file_.metadata.integer(key(gguf_key::kValueWidth));
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
      contradict(gguf_key::kValueWidth, *values,
                 fmt::format("keys have {} elements: it must be as many", size));
    }
    const std::optional<std::int64_t> turned = file_.metadata.integer(key(gguf_key::kTurned));
    if (!turned || *turned == size) return;
    if (*turned < 2 || *turned > size) {
      contradict(gguf_key::kTurned, *turned,
                 fmt::format("it must be from 2 to {}, the elements of a head", size));
    }
    const auto whole_head = static_cast<double>(size);
    double part = static_cast<double>(*turned) / whole_head;
    // Rounded up where it must be, so that times the size it is the count, or a little more.
    if (std::floor(part * whole_head) < static_cast<double>(*turned)) {
      part = std::nextafter(part, 2.0);
    }
    set("partial_rotary_factor", gguf_key::kTurned, part);
  }

  void collect_scaling() {
    const std::string* type = file_.metadata.text(key(gguf_key::kScaling));
    const std::optional<double> factor = number(kGgufFactor.gguf);
    const std::optional<double> old = number(gguf_key::kOldScale);
    const std::optional<std::int64_t> first = file_.metadata.integer(key(kGgufFirst.gguf));
    // Of Granite it says whether there are positions; of others, how the model was made.
    const bool finetuned = file_.metadata.boolean(key(gguf_key::kFinetuned)).value_or(true);
    if (architecture_->model_type == "granite" && !finetuned) {
      throw UserError(
          {"TL-LLM-001",
           "llm",
           fmt::format("{}: {} is false, which is not supported", name_, key(gguf_key::kFinetuned)),
           "supported: true, for layers that know positions",
           {}});
    }
    names_[kGgufFactor.config] = key(factor || !old ? kGgufFactor.gguf : gguf_key::kOldScale);
    names_[kGgufFirst.config] = key(kGgufFirst.gguf);
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
                                     name_, names_[kGgufFactor.config], x),
                         "supported: 1",
                         {}});
      }
      return collect_longrope(first);
    }
    if (named == "none" && !long_rope) return collect_llama3();
    if (long_rope || (named != "linear" && named != "yarn")) {
      throw UserError({"TL-LLM-001",
                       "llm",
                       fmt::format("{}: {} is {}, which is not supported", name_,
                                   key(gguf_key::kScaling), json_quoted(named)),
                       long_rope ? "supported with factors of frequencies: longrope"
                                 : "supported: none, linear, yarn",
                       {}});
    }
    json::object scaling = {{"rope_type", named}};
    if (factor || old) scaling[kGgufFactor.config] = factor ? *factor : *old;
    if (named == "yarn") {
      if (first) scaling[kGgufFirst.config] = *first;
      for (const GgufScalingKey& beta : kGgufBetas) {
        if (const std::optional<double> turns = number(beta.gguf)) scaling[beta.config] = *turns;
        names_[beta.config] = key(beta.gguf);
      }
    }
    config_["rope_scaling"] = std::move(scaling);
  }

  /// Llama 3's parameters, where factors of frequencies are those that they make: what transformers
  /// computes with, not its image in f32.
  void collect_llama3() {
    const io::Tensor* t = file_.tensors.find(kGgufFrequencyFactors);
    if (t == nullptr) return;
    const std::optional<json::object> parameters =
        llama3_parameters(floats(*t), config_["rope_theta"].to_number<double>());
    if (!parameters) return;
    config_["rope_scaling"] = *parameters;
    factors_are_parameters_ = true;
  }

  /// Two tensors of factors stand for it, whether its name is there or not.
  bool is_longrope(const std::string* type) {
    if (!architecture_->two_factor_sets) return false;
    if (type != nullptr && *type == "longrope") return true;
    if (number(kGgufAttentionFactor.gguf).value_or(1) != 1) return true;
    return std::ranges::any_of(kGgufFactorSets, [&](const GgufFactorSet& set) {
      return file_.tensors.find(set.tensor) != nullptr;
    });
  }

  void collect_longrope(std::optional<std::int64_t> first) {
    // By the name that configurations of the family have had from the start.
    json::object scaling = {{"type", "longrope"}};
    for (const GgufFactorSet& set : kGgufFactorSets) {
      const io::Tensor* tensor = file_.tensors.find(set.tensor);
      if (tensor == nullptr) missing(set.tensor);
      json::array factors;
      for (const float f : floats(*tensor)) factors.push_back(meant_number(f));
      scaling[set.config] = std::move(factors);
      names_[set.config] = set.tensor;
    }
    const std::optional<double> attention = number(kGgufAttentionFactor.gguf);
    // Where it is what follows from the two lengths, configurations don't say it.
    if (attention && !is_longrope_factor(*attention, first)) {
      scaling[kGgufAttentionFactor.config] = *attention;
    }
    names_[kGgufAttentionFactor.config] = key(kGgufAttentionFactor.gguf);
    if (first) config_[kGgufFirst.config] = *first;
    config_["rope_scaling"] = std::move(scaling);
  }
  bool is_longrope_factor(double attention, std::optional<std::int64_t> first) {
    if (!first) return false;
    const double follows = longrope_attention_factor(
        static_cast<double>(config_["max_position_embeddings"].get_int64()) /
            static_cast<double>(*first),
        static_cast<double>(*first));
    return static_cast<float>(attention) == static_cast<float>(follows);
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

  /// Frequencies by the factors of a tensor, where there is one and no parameters stand for it.
  void divide(RopeSpec& rope) const {
    const io::Tensor* t = file_.tensors.find(kGgufFrequencyFactors);
    if (t == nullptr) return;
    const std::vector<float> factors = floats(*t);
    const bool fits = factors.size() == rope.frequencies.size();
    for (std::size_t i = 0; fits && !factors_are_parameters_ && i < factors.size(); ++i) {
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
  const GgufArchitecture* architecture_ = nullptr;
  json::object config_;
  bool factors_are_parameters_ = false;
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
