#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tlaloc/base/error.h"
#include "tlaloc/llm/family.h"

namespace tlaloc::llm {
namespace {

struct Family {
  std::string_view model_type;
  FamilyReader read;
};
constexpr Family kFamilies[] = {
    {"llama", read_llama},
    {"mistral", read_mistral},
    {"smollm3", read_smollm3},
    {"qwen2", read_qwen2},
    {"qwen3", read_qwen3},
    {"gemma2", read_gemma2},
    {"gemma3", read_gemma3},
    {"gemma3_text", read_gemma3_text},
    {"phi3", read_phi3},
    {"olmo2", read_olmo2},
    {"granite", read_granite},
    {"muse_glimmer", read_muse_glimmer},
    {"muse_glimmer_text", read_muse_glimmer_text},
};

}  // namespace

void ignore_common(Config& c) {
  // Where the model came from, and what made or stored it.
  c.ignore({"architectures", "model_type", "transformers_version", "_name_or_path",
            "_model_name_or_path", "name_or_path", "_commit_hash", "auto_map", "dtype",
            "torch_dtype", "use_bfloat16", "initializer_range", "attention_dropout",
            "hidden_dropout", "transformers.js_config", "unsloth_fixed", "unsloth_version"});
  // How transformers runs it, and what it returns.
  c.ignore({"use_cache", "cache_implementation", "_attn_implementation", "attn_implementation",
            "_attn_implementation_autoset", "chunk_size_feed_forward", "output_attentions",
            "output_hidden_states", "output_scores", "return_dict", "return_dict_in_generate",
            "torchscript", "tf_legacy_loss"});
  // Of other tasks, and of the tokenizer.
  c.ignore({"id2label", "label2id", "num_labels", "problem_type", "finetuning_task",
            "task_specific_params", "prefix", "tokenizer_class", "bos_token_id", "eos_token_id",
            "pad_token_id", "unk_token_id", "sep_token_id", "decoder_start_token_id"});
  // Of generation, which generation_config.json says.
  c.ignore({"max_length",
            "max_new_tokens",
            "min_length",
            "do_sample",
            "early_stopping",
            "num_beams",
            "num_beam_groups",
            "diversity_penalty",
            "temperature",
            "top_k",
            "top_p",
            "min_p",
            "typical_p",
            "repetition_penalty",
            "length_penalty",
            "no_repeat_ngram_size",
            "encoder_no_repeat_ngram_size",
            "bad_words_ids",
            "num_return_sequences",
            "forced_bos_token_id",
            "forced_eos_token_id",
            "remove_invalid_values",
            "exponential_decay_length_penalty",
            "suppress_tokens",
            "begin_suppress_tokens"});
  // A causal model is what it is, whatever these say.
  c.ignore({"is_decoder", "tie_encoder_decoder"});
  for (const char* key : {"is_encoder_decoder", "add_cross_attention"}) {
    if (c.flag(key, false)) c.refuse(key, "only decoders are supported");
  }
  const boost::json::object* pruned = c.object("pruned_heads");
  if (pruned != nullptr && !pruned->empty()) c.refuse("pruned_heads", "it must be empty");
}

Decoder read_text_part(Config& c, std::int64_t used, FamilyReader reader) {
  const boost::json::object* text = c.object("text_config");
  if (text == nullptr) c.contradict("text_config", "the text part has no configuration");
  Config part = c.part(*text, "text_config");
  ignore_common(part);
  Decoder d = reader(part, used);
  part.finish();
  return d;
}

namespace {

/// What the decoder multiplies with, or divides by, must be a number in f32 too.
void check_factors(const Config& c, const DecoderSpec& d) {
  auto check = [&](const char* what, double x) {
    if (std::abs(x) <= std::numeric_limits<float>::max()) return;
    throw UserError({"TL-LLM-002",
                     "llm",
                     fmt::format("{}: {} would be {}, which f32 does not hold", c.name(), what, x),
                     "get the model anew",
                     {}});
  };
  check("the factor of embeddings", d.embedding_factor);
  check("the factor of logits", d.logit_factor);
  check("the cap of logits", d.logit_cap);
  for (const RopeSpec& r : d.ropes) check("the factor of turned elements", r.factor);
  for (const LayerSpec& l : d.layers) {
    check("the factor of scores", l.attention.scale);
    check("the cap of scores", l.attention.soft_cap);
    check("the factor of queries", l.attention.query_factor);
    check("the factor of a layer's parts", l.residual_factor);
  }
}

}  // namespace

Decoder read_family(Config& c, const CheckpointOptions& options) {
  const std::string type = c.text("model_type", "");
  if (type.empty()) c.contradict("model_type", "it must name a family");
  const Family* family = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                      [&](const Family& f) { return f.model_type == type; });
  if (family == std::end(kFamilies)) {
    std::string known;
    for (const Family& f : kFamilies) {
      known += (known.empty() ? "" : ", ") + std::string(f.model_type);
    }
    c.refuse("model_type", "supported: " + known);
  }
  ignore_common(c);
  Decoder d = family->read(c, options.context);
  c.finish();
  check_factors(c, d.spec);
  if (options.context > d.spec.context) {
    throw UserError({"TL-LLM-002",
                     "llm",
                     fmt::format("{}: {} positions are asked for, and the model has {}", c.name(),
                                 options.context, d.spec.context),
                     "ask for fewer",
                     {}});
  }
  if (options.context > 0) d.spec.context = options.context;
  return d;
}

Decoder read_config(const boost::json::object& config, const std::string& name,
                    const CheckpointOptions& options) {
  Config c(config, name);
  return read_family(c, options);
}

}  // namespace tlaloc::llm
