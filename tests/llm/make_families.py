#!/usr/bin/env python3
"""Writes tests/llm/goldens: tiny models of each family, and what transformers computes with them.

usage: make_families.py [--only NAME,NAME]

Needs torch and transformers (tried with 2.15.0 and 5.24.0), which the project itself does not.

A golden has the configuration as transformers writes it, and the tensors of its checkpoint with a base and a scale each:
element i of a tensor is base + scale * u(name, i), u being a hash of both in [-1, 1) that families_test.cc computes too,
so that no weights are kept. Scales are powers of two, and weights large: a norm that is taken for another, or a missing
gate, shows. With these, in float32:

  ids          a text of 40 tokens, which is longer than the windows, 8
  logits       behind the tokens at the positions
  step_ids     six tokens, each the likeliest one, appended to the text
  step_logits  from which they were chosen
"""

import argparse
import json
import os
import pathlib
import tempfile

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
import numpy as np
import torch
import transformers
from safetensors.numpy import load_file, save_file

LENGTH, STEPS, POSITIONS = 40, 6, [0, 9, 20, 39]
ROPE = {"rope_type": "default", "rope_theta": 10000.0}
BASE = dict(vocab_size=128, hidden_size=32, intermediate_size=48, num_hidden_layers=4, num_attention_heads=4,
            num_key_value_heads=2, head_dim=8, max_position_embeddings=256, bos_token_id=1, eos_token_id=2, pad_token_id=None)
PLAIN = {k: v for k, v in BASE.items() if k != "head_dim"}
LONG = {"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0, 1.25], "long_factor": [1.5, 6.0],
        "partial_rotary_factor": 0.5}
GEMMA_ROPE = {"sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
              "full_attention": {"rope_type": "linear", "rope_theta": 10000.0, "factor": 8.0}}
GEMMA3 = {**BASE, "hidden_size": 40, "sliding_window": 8, "query_pre_attn_scalar": 8, "rope_parameters": GEMMA_ROPE,
          "num_hidden_layers": 6, "layer_types": (["sliding_attention"] * 2 + ["full_attention"]) * 2}


def rope(kind, **more):
    return {"rope_parameters": {"rope_type": kind, "rope_theta": 10000.0, **more}}


# Name: configuration class, model class, settings.
FAMILIES = {
    "llama": ("Llama", {**BASE, **rope("default")}),
    "llama_biases": ("Llama", {**BASE, **rope("default"), "tie_word_embeddings": True, "attention_bias": True,
                               "mlp_bias": True}),
    "llama_linear": ("Llama", {**BASE, **rope("linear", factor=4.0)}),
    "llama_dynamic": ("Llama", {**BASE, **rope("dynamic", factor=4.0)}),
    "llama_llama3": ("Llama", {**BASE, **rope("llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                                              original_max_position_embeddings=64)}),
    "llama_yarn": ("Llama", {**BASE, **rope("yarn", factor=4.0, original_max_position_embeddings=64, beta_fast=4.0)}),
    "llama_yarn_mscale": ("Llama", {**BASE, **rope("yarn", factor=4.0, original_max_position_embeddings=64, mscale=0.7,
                                                   mscale_all_dim=0.4, truncate=False, beta_fast=4.0)}),
    "mistral": ("Mistral", {**BASE, **rope("default"), "sliding_window": 8}),
    "smollm3": ("SmolLM3", {**BASE, **rope("default"), "no_rope_layers": [1, 1, 1, 0]}),
    "qwen2": ("Qwen2", {**PLAIN, **rope("default"), "use_sliding_window": True, "sliding_window": 8, "max_window_layers": 2}),
    "qwen2_full": ("Qwen2", {**PLAIN, **rope("default")}),
    "qwen3": ("Qwen3", {**BASE, **rope("default"), "head_dim": 16}),
    "gemma2": ("Gemma2", {**BASE, "hidden_size": 40, **rope("default"), "sliding_window": 8, "query_pre_attn_scalar": 8,
                          "attn_logit_softcapping": 4.0, "final_logit_softcapping": 5.0}),
    "gemma3_text": ("Gemma3Text", GEMMA3),
    "gemma3": ("Gemma3", {"text_config": {**GEMMA3, "query_pre_attn_scalar": 24}, "mm_tokens_per_image": 4, "vision_config": dict(
        hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, image_size=8, patch_size=4,
        model_type="siglip_vision_model")}),
    "phi3": ("Phi3", {**PLAIN, **rope("default", partial_rotary_factor=0.5), "sliding_window": 8}),
    "phi3_longrope_short": ("Phi3", {**PLAIN, "rope_parameters": LONG, "original_max_position_embeddings": 64}),
    "phi3_longrope_long": ("Phi3", {**PLAIN, "rope_parameters": LONG, "original_max_position_embeddings": 16}),
    "olmo2": ("Olmo2", {**PLAIN, **rope("default")}),
    "granite": ("Granite", {**PLAIN, **rope("default"), "embedding_multiplier": 3.0, "logits_scaling": 0.5,
                            "residual_multiplier": 0.75, "attention_multiplier": 0.5}),
    "muse_glimmer": ("MuseGlimmer", {
        "text_config": {**BASE, **rope("default"), "sliding_window": 8, "num_hidden_layers": 5, "output_multiplier": 2.828},
        "vision_config": dict(num_hidden_layers=1, hidden_size=16, intermediate_size=16, num_attention_heads=2, patch_size=2,
                              pos_emb_height=4, pos_emb_width=4, max_position_embeddings=16),
        "out_hidden_size": 64, "projector_hidden_size": 16, "image_token_id": 120, "video_token_id": 121}),
}


def model_class(name):
    with_images = name in ("Gemma3", "MuseGlimmer")
    return getattr(transformers, name.removesuffix("Text") + ("ForConditionalGeneration" if with_images else "ForCausalLM"))


def uniform(name, count):
    """The hash of a name (FNV-1a) and an index (SplitMix64), as numbers in [-1, 1) of 24 bits."""
    seed = 0xCBF29CE484222325
    for byte in name.encode():
        seed = (seed ^ byte) * 0x100000001B3 % 2**64
    with np.errstate(over="ignore"):
        x = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    return ((x >> np.uint64(40)).astype(np.float64) / 2**23 - 1).astype(np.float32)


def recipe(name, start, tied):
    """Base and scale of a tensor, of which `start` is what the family starts with."""
    if start.ndim == 1:
        return float(start.flat[0]), 0.25  # norms start with 0 or 1, biases with 0
    if "embed" in name:
        return 0.0, 0.25 if tied else 1.0  # else a token is followed by itself
    return 0.0, float(2.0 ** np.round(np.log2(np.sqrt(3 / start.shape[-1]))))


def number(x):
    return float(f"{x:.7g}")


def make(name, folder):
    kind, settings = FAMILIES[name]
    torch.manual_seed(1)
    config = getattr(transformers, kind + "Config")(**settings)
    model_class(kind)(config).float().save_pretrained(folder)
    file = os.path.join(folder, "model.safetensors")
    start, tensors, weights = load_file(file), {}, {}
    for key in sorted(start):
        base, scale = recipe(key, start[key], "lm_head.weight" not in start)
        tensors[key] = [list(start[key].shape), base, scale]
        weights[key] = (np.float32(base) + np.float32(scale) * uniform(key, start[key].size)).reshape(start[key].shape)
    save_file(weights, file, {"format": "pt"})
    model = model_class(kind).from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    ids = torch.randint(3, 119, (1, LENGTH), generator=torch.Generator().manual_seed(7))
    step_ids, step_logits = [], []
    with torch.no_grad():
        logits = model(input_ids=ids, use_cache=False).logits[0]
        for _ in range(STEPS):
            text = torch.cat([ids, torch.tensor([step_ids], dtype=torch.int64)], 1)
            step_logits.append(model(input_ids=text, use_cache=False).logits[0, -1])
            best = step_logits[-1].topk(2)
            assert best.values[0] - best.values[1] > 1e-3, "the choice is close: take other weights"
            step_ids.append(int(best.indices[0]))
    numbers = lambda rows: [[number(float(x)) for x in row] for row in rows]
    return {"config": json.loads(pathlib.Path(folder, "config.json").read_text()), "tensors": tensors, "ids": ids[0].tolist(),
            "positions": POSITIONS, "logits": numbers(logits[POSITIONS]), "step_ids": step_ids,
            "step_logits": numbers(step_logits)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only")
    only = parser.parse_args().only
    goldens = pathlib.Path(__file__).parent / "goldens"
    goldens.mkdir(exist_ok=True)
    for name in only.split(",") if only else FAMILIES:
        with tempfile.TemporaryDirectory() as folder:
            golden = make(name, folder)
        lines = ",\n".join(f'"{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in golden.items())
        (goldens / f"{name}.json").write_text("{\n" + lines + "\n}\n")
        print(f"{name:20} {max(abs(x) for row in golden['logits'] for x in row):8.3f} {golden['step_ids']}", flush=True)


if __name__ == "__main__":
    main()
