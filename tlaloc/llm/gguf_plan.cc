// What a GGUF file says of a decoder.
#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "tlaloc/io/dequantize.h"
#include "tlaloc/llm/convert_parts.h"
#include "tlaloc/llm/gguf_keys.h"
#include "tlaloc/llm/leaves.h"

namespace tlaloc::llm {
namespace {

class Planner {
 public:
  explicit Planner(const Decoder& from) : from_(from), spec_(from.spec) {
    architecture_ = gguf_architecture_of(spec_.family);
    if (architecture_ == nullptr) {
      std::string known;
      for (const GgufArchitecture& a : gguf_architectures()) {
        known += (known.empty() ? "" : ", ") + std::string(a.name);
      }
      refuse_to_convert("GGUF has no architecture for the family " + spec_.family,
                        "there are " + known + "; convert to a folder");
    }
    check_weights();
  }

  GgufPlan plan(const std::string& name) {
    set("general.architecture", std::string(architecture_->name));
    for (const GgufKey& k : gguf_common_keys()) add(k);
    for (const GgufKey& k : architecture_->keys) add(k);
    const AttentionSpec& attention = spec_.layers[0].attention;
    add_size(gguf_key::kValueWidth, attention.width);
    add_size(gguf_key::kTurned, 2 * std::ssize(spec_.ropes.back().frequencies));
    add_size(gguf_key::kVocabulary, spec_.vocabulary);
    add_scaling(spec_.ropes.back());

    WeightsOf<Source> weights = from_.sources;
    use_gguf_names(weights);
    // Read as a file would be: how weights are laid out there, its reader knows.
    io::Gguf file;
    file.metadata = plan_.metadata;
    std::vector<io::Tensor> tensors = plan_.factors;
    std::unordered_set<std::string> seen;
    each_leaf(weights, [&](const Source& s) {
      if (!seen.insert(s.tensor).second) return;
      Extents shape(s.shape.begin(), s.shape.end());
      if (s.tensor_rows != 0) shape[0] = s.tensor_rows;
      tensors.push_back({{s.tensor, io::Storage::f32, std::move(shape)}, {}, {}, {}});
    });
    file.tensors = io::TensorFile("TL-CONVERT-001", name, std::move(tensors));
    plan_.decoder = read_gguf_config(file, name);
    check_same(spec_, plan_.decoder.spec, "GGUF");
    return std::move(plan_);
  }

 private:
  void check_weights() const {
    const std::string in = "GGUF's architecture " + std::string(architecture_->name);
    const Biases& known = architecture_->biases;
    for (const LayerOf<Source>& l : from_.sources.layers) {
      auto check = [&](const LinearOf<Source>& linear, bool allowed) {
        if (!linear.bias || allowed) return;
        refuse_to_convert(in + " has no biases such as " + linear.bias->tensor,
                          "run the model as it is");
      };
      check(l.attention.query, known.inputs);
      check(l.attention.key, known.inputs);
      check(l.attention.value, known.inputs);
      check(l.attention.output, known.output);
      check(l.mlp.gate, known.mlp);
      check(l.mlp.up, known.mlp);
      check(l.mlp.down, known.mlp);
    }
    if (from_.sources.head ? !architecture_->own_head : !architecture_->tied_head) {
      refuse_to_convert(in + (from_.sources.head ? " has the embedding for a head, not another"
                                                 : " has a head of its own, not the embedding"),
                        "run the model as it is");
    }
  }

  void set(std::string key, io::GgufValue value) {
    plan_.metadata.set(std::move(key), std::move(value));
  }
  std::string key(std::string_view name) const {
    return fmt::format("{}.{}", architecture_->name, name);
  }
  void add_size(std::string_view name, std::int64_t n) {
    set(key(name), static_cast<std::uint32_t>(n));
  }
  void add_number(std::string_view name, double x) { set(key(name), static_cast<float>(x)); }
  void add(const GgufKey& k) {
    const std::optional<double> x = k.of(spec_);
    if (!x) return;
    const bool real = k.kind == GgufKind::number || k.kind == GgufKind::optional_number;
    real ? add_number(k.gguf, *x) : add_size(k.gguf, static_cast<std::int64_t>(*x));
  }

  void add_scaling(const RopeSpec& rope) {
    const std::string type(rope.parameters.at("rope_type").get_string());
    auto number = [&](const GgufScalingKey& k) {
      return rope.parameters.at(k.config).to_number<double>();
    };
    auto add_first = [&] {
      add_size(kGgufFirst.gguf, static_cast<std::int64_t>(number(kGgufFirst)));
    };
    if (type == "default") return;
    if (type == "linear" || type == "yarn") {
      set(key(gguf_key::kScaling), type);
      add_number(kGgufFactor.gguf, number(kGgufFactor));
      if (type == "linear") return;
      add_first();
      for (const GgufScalingKey& beta : kGgufBetas) add_number(beta.gguf, number(beta));
    } else if (type == "llama3" && architecture_->frequency_factors) {
      add_factors(kGgufFrequencyFactors, llama3_factors(rope));
    } else if (type == "longrope" && architecture_->two_factor_sets) {
      add_first();
      add_number(kGgufAttentionFactor.gguf, rope.factor);
      for (const GgufFactorSet& set : kGgufFactorSets) {
        std::vector<float> factors;
        for (const auto& f : rope.parameters.at(set.config).get_array()) {
          factors.push_back(static_cast<float>(f.to_number<double>()));
        }
        add_factors(set.tensor, factors);
      }
    } else {
      refuse_to_convert(fmt::format("GGUF's architecture {} has no positions of rope_type {}",
                                    architecture_->name, type),
                        "run the model as it is");
    }
  }
  void add_factors(const char* name, const std::vector<float>& factors) {
    const auto bytes = std::make_shared<std::vector<std::byte>>(factors.size() * sizeof(float));
    io::quantize(io::Storage::f32, factors, *bytes, name);
    plan_.factors.push_back(
        {{name, io::Storage::f32, {std::ssize(factors)}}, *bytes, bytes, nullptr});
  }

  const Decoder& from_;
  const DecoderSpec& spec_;
  const GgufArchitecture* architecture_ = nullptr;
  GgufPlan plan_;
};

}  // namespace

GgufPlan plan_gguf(const Decoder& from, const std::string& name) {
  return Planner(from).plan(name);
}

}  // namespace tlaloc::llm
