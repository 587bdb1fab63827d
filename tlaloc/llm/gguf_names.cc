// What llama.cpp calls the weights that transformers has.
#include <fmt/format.h>

#include "tlaloc/llm/family.h"

namespace tlaloc::llm {
namespace {

void rename_layer(LayerOf<Source>& l, const std::string& block, const io::TensorFile& tensors) {
  auto linear = [&](LinearOf<Source>& to, const char* name) {
    to.weight.tensor = block + name + ".weight";
    const std::string bias = block + name + ".bias";
    to.bias.reset();
    if (tensors.find(bias) == nullptr) return;
    to.bias = Source{bias, {to.weight.shape[0]}, to.weight.first_row, to.weight.tensor_rows};
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

void use_gguf_names(WeightsOf<Source>& w, const io::TensorFile& tensors) {
  w.embedding.tensor = "token_embd.weight";
  w.norm.tensor = "output_norm.weight";
  if (w.head) w.head->tensor = "output.weight";
  for (std::size_t i = 0; i < w.layers.size(); ++i) {
    rename_layer(w.layers[i], fmt::format("blk.{}.", i), tensors);
  }
}

}  // namespace tlaloc::llm
