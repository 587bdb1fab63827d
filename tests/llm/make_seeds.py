#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets of tlaloc/llm: configurations of the goldens, and the head of GGUF files.

usage: .venv/bin/python tests/llm/make_seeds.py
"""

import json
import pathlib

import gguf
import numpy as np
from check_gguf import GOLDENS, MODELS, add_rope

ROOT = pathlib.Path(__file__).resolve().parents[2] / "tlaloc/llm/testdata"
CONFIGS = ["llama_llama3", "llama_yarn", "mistral", "smollm3", "qwen2", "qwen3", "gemma2", "gemma3", "phi3_longrope_long",
           "olmo2", "granite", "muse_glimmer"]
FOURS = {"model_type": "gemma3_text", "num_hidden_layers": 3, "rope_theta": 1e6, "rope_local_base_freq": 1e4,
         "rope_scaling": {"type": "linear", "factor": 8.0}, "sliding_window_pattern": 2, "torch_dtype": "bfloat16"}


def main():
    folder = ROOT / "config_fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    for name in CONFIGS:
        config = json.loads((GOLDENS / f"{name}.json").read_text())["config"]
        (folder / name).write_text(json.dumps(config, separators=(",", ":")))
    (folder / "transformers4").write_text(json.dumps(FOURS, separators=(",", ":")))

    folder = ROOT / "gguf_config_fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    for name in "llama_llama3", "llama_yarn", "gemma3_text", "phi3_longrope_long", "granite":
        architecture = MODELS[name][0]
        config = json.loads((GOLDENS / f"{name}.json").read_text())["config"]
        writer = gguf.GGUFWriter(folder / name, architecture)
        writer.add_context_length(64)
        writer.add_embedding_length(8)
        writer.add_block_count(2)
        writer.add_feed_forward_length(4)
        writer.add_head_count(1)
        writer.add_key_length(8)
        writer.add_layer_norm_rms_eps(1e-6)
        if architecture == "gemma3":
            writer.add_sliding_window(8)
        if architecture == "granite":
            writer.add_logit_scale(2.0)
        add_rope(writer, config, 8)
        sentencepiece = architecture in ("gemma3", "phi3")
        writer.add_tokenizer_model("llama" if sentencepiece else "gpt2")
        if sentencepiece:
            writer.add_name("Phi-3" if architecture == "phi3" else "Gemma")
            writer.add_add_space_prefix(architecture == "phi3")
            writer.add_token_scores([-1.0, -2.0, 0.0, 0.0, 0.0])
        else:
            writer.add_tokenizer_pre("gpt-4o" if architecture == "granite" else "smollm")
        # The last is a byte.
        writer.add_token_list([b"a", b"b", b"ab", b"<s>", b"<0x0A>"])
        writer.add_token_types([1, 1, 1, 3, 6])
        writer.add_token_merges(["a b"])
        writer.add_bos_token_id(3)
        writer.add_tensor("token_embd.weight", np.zeros((5, 8), np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


if __name__ == "__main__":
    main()
