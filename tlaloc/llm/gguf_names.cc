// What llama.cpp calls the weights that transformers has.
#include <fmt/format.h>

#include "tlaloc/llm/family.h"
#include "tlaloc/llm/leaves.h"

namespace tlaloc::llm {
namespace {

void rename_layer(LayerOf<Source>& l, const std::string& block) {
  auto linear = [&](LinearOf<Source>& to, const char* name) {
    to.weight.tensor = block + name + ".weight";
    if (to.bias) to.bias->tensor = block + name + ".bias";
  };
  auto norm = [&](std::optional<Source>& s, const char* name) {
    if (s) s->tensor = block + name + ".weight";
  };
  norm(l.attention_norm, "attn_norm");
  norm(l.attention_output_norm, "post_attention_norm");
  norm(l.mlp_norm, "ffn_norm");
  norm(l.mlp_output_norm, "post_ffw_norm");
  const bool fused = l.attention.query.weight.tensor_rows != 0;
  linear(l.attention.query, fused ? "attn_qkv" : "attn_q");
  linear(l.attention.key, fused ? "attn_qkv" : "attn_k");
  linear(l.attention.value, fused ? "attn_qkv" : "attn_v");
  linear(l.attention.output, "attn_output");
  norm(l.attention.query_norm, "attn_q_norm");
  norm(l.attention.key_norm, "attn_k_norm");
  linear(l.mlp.gate, l.mlp.gate.weight.tensor_rows != 0 ? "ffn_up" : "ffn_gate");
  linear(l.mlp.up, "ffn_up");
  linear(l.mlp.down, "ffn_down");
}

}  // namespace

void use_gguf_names(WeightsOf<Source>& w) {
  w.embedding.tensor = "token_embd.weight";
  w.norm.tensor = "output_norm.weight";
  if (w.head) w.head->tensor = "output.weight";
  for (std::size_t i = 0; i < w.layers.size(); ++i) {
    rename_layer(w.layers[i], fmt::format("blk.{}.", i));
  }
}

void find_gguf_biases(WeightsOf<Source>& w, const io::TensorFile& tensors) {
  for (LayerOf<Source>& l : w.layers) {
    each_linear(l, [&](LinearOf<Source>& linear) {
      const Source& weight = linear.weight;
      std::string name = weight.tensor;
      name.replace(name.rfind(".weight"), std::string::npos, ".bias");
      linear.bias.reset();
      if (tensors.find(name) == nullptr) return;
      linear.bias = Source{name, {weight.shape[0]}, weight.first_row, weight.tensor_rows};
    });
  }
}

}  // namespace tlaloc::llm
