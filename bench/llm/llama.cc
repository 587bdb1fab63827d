// The other side: llama.cpp through its C API. llama_bench MODEL, or: llama_bench quantize IN OUT
// TYPE, which makes the files that both read.
#include <ggml-backend.h>
#include <llama.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "bench/llm/serve.h"

namespace {

int quantize(const char* from, const char* to, const std::string& type) {
  const std::map<std::string, llama_ftype> types{{"F32", LLAMA_FTYPE_ALL_F32},
                                                 {"F16", LLAMA_FTYPE_MOSTLY_F16},
                                                 {"Q4_0", LLAMA_FTYPE_MOSTLY_Q4_0},
                                                 {"Q8_0", LLAMA_FTYPE_MOSTLY_Q8_0}};
  llama_model_quantize_params p = llama_model_quantize_default_params();
  p.ftype = types.at(type);
  p.allow_requantize = true;
  return static_cast<int>(llama_model_quantize(from, to, &p));
}

}  // namespace

int main(int argc, char** argv) {
  llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  // Where they are libraries of their own, as in the wheel: the one that GGML_BACKEND_PATH names.
  ggml_backend_load_all();
  llama_backend_init();
  if (argc == 5 && std::strcmp(argv[1], "quantize") == 0)
    return quantize(argv[2], argv[3], argv[4]);
  if (argc < 2) return 2;
  llama_model_params model_params = llama_model_default_params();
  model_params.n_gpu_layers = 0;
  llama_model* model = llama_model_load_from_file(argv[1], model_params);
  if (model == nullptr) return 1;
  llama_context_params params = llama_context_default_params();
  params.n_ctx = 1024;
  params.n_batch = params.n_ubatch = 512;
  params.n_threads = params.n_threads_batch = 1;
  llama_context* context = llama_init_from_model(model, params);
  if (context == nullptr) return 1;
  const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(model));
  int position = 0;
  // Whether all of the logits are wanted, or those behind the last token.
  const auto decode = [&](const std::vector<int>& tokens, bool all) {
    const int count = static_cast<int>(tokens.size());
    llama_batch batch = llama_batch_init(count, 0, 1);
    batch.n_tokens = count;
    for (int i = 0; i < count; ++i) {
      batch.token[i] = tokens[static_cast<std::size_t>(i)];
      batch.pos[i] = position++;
      batch.n_seq_id[i] = 1;
      batch.seq_id[i][0] = 0;
      batch.logits[i] = all || i + 1 == count;
    }
    if (llama_decode(context, batch) != 0) std::exit(1);
    llama_batch_free(batch);
  };
  const auto forget = [&] {
    llama_memory_clear(llama_get_memory(context), true);
    position = 0;
  };
  bench::serve(
      vocabulary,
      [&](const std::vector<int>& tokens) {
        decode(tokens, false);
        llama_synchronize(context);
      },
      [&] {
        const float* logits = llama_get_logits_ith(context, -1);
        return static_cast<int>(std::max_element(logits, logits + vocabulary) - logits);
      },
      forget,
      [&](const std::vector<int>& tokens, const auto& each) {
        forget();
        decode(tokens, true);
        for (std::size_t i = 0; i < tokens.size(); ++i) {
          each(i, llama_get_logits_ith(context, static_cast<int>(i)));
        }
      });
}
