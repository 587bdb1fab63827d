#!/usr/bin/env python3
"""Writes tests/llm/smollm2.json: what transformers computes with SmolLM2-135M-Instruct, whose weights the GGUF file keeps in
4 and 8 bits and which are decoded to float32 here.

usage: make_real_model.py data/SmolLM2-135M-Instruct.Q4_1.gguf

Needs torch, transformers and gguf (tried with 2.15.0, 5.24.0 and 0.19.0), which the project itself does not.

For a text, a question and a text of 600 tokens: the ids of the prompt, 32 tokens, each the likeliest one, and of the first
choice the logits of the 20 likeliest tokens and of every 1000th.
"""

import json
import os
import pathlib
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")
import torch
import transformers
from tokenizers import pre_tokenizers

STEPS = 32
STORY = ("The river town had three bridges, and each of them told a story about the people who built it. "
         "The oldest was made of stone; it had 7 arches, 2 towers and a toll house that no one used any more. "
         "In 1842 a flood took the middle arch away, and for 19 years the farmers crossed by boat. ")
QUESTION = [{"role": "user", "content": "What is the capital of France?"}]


def golden(model, ids):
    tokens, cache, step = [], None, torch.tensor([ids])
    while len(tokens) < STEPS:
        out = model(step, use_cache=True, logits_to_keep=1, **({"cache": cache} if cache is not None else {}))
        cache, logits = out.cache, out.logits[0, -1]
        if not tokens:
            first = logits
        tokens.append(int(logits.argmax()))
        step = torch.tensor([[tokens[-1]]])
    kept = sorted(set(first.topk(20).indices.tolist()) | set(range(0, len(first), 1000)))
    return {"ids": ids, "tokens": tokens, "logit_ids": kept, "logits": [float(f"{first[i]:.7g}") for i in kept]}


def main():
    folder, name = os.path.split(os.path.abspath(sys.argv[1]))
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, gguf_file=name)
    # transformers passes over tokenizer.ggml.pre: digits stand alone.
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)])
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32).eval()
    model.config.rms_norm_eps = 1e-5
    for module in model.modules():
        if hasattr(module, "variance_epsilon"):
            module.variance_epsilon = 1e-5  # which GGUF keeps in float32
    texts = {"plain": "The capital of France is",
             "chat": tokenizer.apply_chat_template(QUESTION, add_generation_prompt=True, tokenize=False),
             "long": STORY * 9}
    goldens = {}
    with torch.inference_mode():
        for key, text in texts.items():
            ids = tokenizer(text)["input_ids"][:600]
            goldens[key] = {"text": text if key != "long" else tokenizer.decode(ids), **golden(model, ids)}
            print(key, len(ids), repr(tokenizer.decode(goldens[key]["tokens"])), flush=True)
    entries = [f'"{key}": {{\n' + ",\n".join(f'  "{k}": {json.dumps(v, separators=(",", ":"))}' for k, v in g.items()) + "\n}"
               for key, g in goldens.items()]
    (pathlib.Path(__file__).parent / "smollm2.json").write_text("{\n" + ",\n".join(entries) + "\n}\n")


if __name__ == "__main__":
    main()
