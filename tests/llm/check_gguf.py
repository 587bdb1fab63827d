#!/usr/bin/env python3
"""Runs the tiny models of goldens/ as GGUF files, which the package gguf writes with llama.cpp's names for keys and tensors.

usage: check_gguf.py LLM_LOGITS [--keep FOLDER]
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

import gguf
import numpy as np

GOLDENS = pathlib.Path(__file__).parent / "goldens"
# Golden: architecture, and the context to use where it is not the model's. What a file can't say is not here: windows of
# Mistral, Qwen and SmolLM3, and scales of Gemma that are not those of its makers.
MODELS = {
    "llama": ("llama", 0), "llama_biases": ("llama", 0), "llama_linear": ("llama", 0), "llama_llama3": ("llama", 0),
    "llama_yarn": ("llama", 0), "smollm3": ("smollm3", 0), "qwen2_full": ("qwen2", 0), "qwen3": ("qwen3", 0),
    "gemma2": ("gemma2", 0), "gemma3_text": ("gemma3", 0), "phi3": ("phi3", 0), "phi3_longrope_short": ("phi3", 64),
    "phi3_longrope_long": ("phi3", 0), "olmo2": ("olmo2", 0), "granite": ("granite", 0),
}
PERMUTED = {"llama", "smollm3", "granite"}
ARCHITECTURES = {name: number for number, name in gguf.MODEL_ARCH_NAMES.items()}
failures = []


def uniform(name, count):
    """As in make_families.py."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 % 2**64
    with np.errstate(over="ignore"):
        x = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return ((x >> np.uint64(40)).astype(np.float64) / 2**23 - 1).astype(np.float32)


def values(name, recipe):
    shape, base, scale = recipe
    return (np.float32(base) + np.float32(scale) * uniform(name, math.prod(shape))).reshape(shape)


def interleave(weight, heads):
    """Rows of a head from halves to pairs of neighbours."""
    return weight.reshape(heads, 2, -1, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def add_rope(writer, config, width):
    rope = config["rope_parameters"]
    if config["model_type"] == "gemma3_text":
        writer.add_rope_freq_base_swa(rope["sliding_attention"]["rope_theta"])
        rope = rope["full_attention"]
    writer.add_rope_freq_base(rope["rope_theta"])
    turned = int(width * rope.get("partial_rotary_factor", 1))
    if config["model_type"] != "gemma3_text":
        writer.add_rope_dimension_count(turned)
    kind = rope["rope_type"]
    if kind in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(kind))
        writer.add_rope_scaling_factor(rope["factor"])
    if kind == "yarn":
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        writer.add_rope_scaling_yarn_beta_fast(rope["beta_fast"])
    if kind == "llama3":
        plain = rope["rope_theta"] ** -(np.arange(0, turned, 2) / turned)
        turns = rope["original_max_position_embeddings"] * plain / (2 * math.pi)
        low, high = rope["low_freq_factor"], rope["high_freq_factor"]
        kept = np.clip((turns - low) / (high - low), 0, 1)
        writer.add_tensor("rope_freqs.weight", (1 / (kept + (1 - kept) / rope["factor"])).astype(np.float32))
    if kind == "longrope":
        first = config["original_max_position_embeddings"]
        writer.add_rope_scaling_orig_ctx_len(first)
        writer.add_rope_scaling_attn_factors(math.sqrt(1 + math.log(config["max_position_embeddings"] / first) / math.log(first)))
        writer.add_tensor("rope_factors_long.weight", np.array(rope["long_factor"], np.float32))
        writer.add_tensor("rope_factors_short.weight", np.array(rope["short_factor"], np.float32))


def write(golden, architecture, path):
    config = golden["config"]
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    width = config.get("head_dim") or config["hidden_size"] // heads
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_vocab_size(config["vocab_size"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_key_length(width)
    writer.add_value_length(width)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    if config.get("sliding_window"):
        writer.add_sliding_window(config["sliding_window"])
    if architecture == "gemma2":
        writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
        writer.add_final_logit_softcapping(config["final_logit_softcapping"])
    if architecture == "gemma3":
        writer.add_sliding_window_pattern(3)
    if architecture == "granite":
        writer.add_attention_scale(config["attention_multiplier"])
        writer.add_embedding_scale(config["embedding_multiplier"])
        writer.add_residual_scale(config["residual_multiplier"])
        writer.add_logit_scale(config["logits_scaling"])
    add_rope(writer, config, width)
    names = gguf.get_tensor_name_map(ARCHITECTURES[architecture], config["num_hidden_layers"])
    for name, recipe in golden["tensors"].items():
        weight = values(name, recipe)
        if architecture in PERMUTED and ".q_proj." in name:
            weight = interleave(weight, heads)
        if architecture in PERMUTED and ".k_proj." in name:
            weight = interleave(weight, kv_heads)
        if architecture.startswith("gemma") and name.endswith("norm.weight"):
            weight = weight + np.float32(1)
        writer.add_tensor(names.get_name(name, (".weight", ".bias")), weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def check(program, name, path, context, golden):
    ids = golden["ids"] + golden["step_ids"][:-1]
    run = subprocess.run([program, path, str(context)], input=" ".join(map(str, ids)), stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        failures.append(f"{name}: {run.stderr}")
        return
    logits = np.array([[float(x) for x in line.split()] for line in run.stdout.splitlines()])
    rows = golden["positions"] + list(range(len(golden["ids"]) - 1, len(ids)))
    wanted = np.array(golden["logits"] + golden["step_logits"])
    worst = np.abs(logits[rows] - wanted).max()
    if worst > 1e-4:
        failures.append(f"{name}: {worst} from transformers")
    # Tokens in another order have other logits.
    if np.abs(logits[rows[0]] - wanted[-1]).max() < 1e-2:
        failures.append(f"{name}: all logits are alike")


def main():
    keep = sys.argv[3] if len(sys.argv) == 4 and sys.argv[2] == "--keep" else None
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(keep or folder)
        for name, (architecture, context) in MODELS.items():
            golden = json.loads((GOLDENS / f"{name}.json").read_text())
            write(golden, architecture, folder / f"{name}.gguf")
            check(sys.argv[1], name, folder / f"{name}.gguf", context, golden)
    print("\n".join(failures) or f"{len(MODELS)} models as GGUF have the logits of transformers")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
