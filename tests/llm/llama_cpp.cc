// usage: llm_llama_cpp MODEL < IDS
// Writes the logits behind each token of a text, a line each, as llama.cpp computes them in f32.
// The model needs no tokenizer.
#include <ggml-backend.h>
#include <llama.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  llama_log_set(
      [](ggml_log_level level, const char* text, void*) {
        if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
      },
      nullptr);
  ggml_backend_load_all();
  llama_backend_init();
  llama_model_kv_override overrides[2] = {};
  std::strcpy(overrides[0].key, "tokenizer.ggml.model");
  overrides[0].tag = LLAMA_KV_OVERRIDE_TYPE_STR;
  std::strcpy(overrides[0].val_str, "none");
  llama_model_params model_params = llama_model_default_params();
  model_params.n_gpu_layers = 0;
  model_params.kv_overrides = overrides;
  llama_model* model = llama_model_load_from_file(argv[1], model_params);
  if (model == nullptr) return 1;
  llama_context_params params = llama_context_default_params();
  params.n_ctx = params.n_batch = params.n_ubatch = 256;
  params.n_threads = params.n_threads_batch = 1;
  params.type_k = params.type_v = GGML_TYPE_F32;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  llama_context* context = llama_init_from_model(model, params);
  if (context == nullptr) return 1;
  const std::vector<llama_token> ids{std::istream_iterator<llama_token>(std::cin), {}};
  const int count = static_cast<int>(ids.size());
  llama_batch batch = llama_batch_init(count, 0, 1);
  batch.n_tokens = count;
  for (int i = 0; i < count; ++i) {
    batch.token[i] = ids[static_cast<std::size_t>(i)];
    batch.pos[i] = i;
    batch.n_seq_id[i] = 1;
    batch.seq_id[i][0] = 0;
    batch.logits[i] = 1;
  }
  if (llama_decode(context, batch) != 0) return 1;
  const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
  for (int i = 0; i < count; ++i) {
    const float* logits = llama_get_logits_ith(context, i);
    for (int v = 0; v < vocabulary; ++v) {
      std::printf("%.8g%c", static_cast<double>(logits[v]), v + 1 == vocabulary ? '\n' : ' ');
    }
  }
  return 0;
}
