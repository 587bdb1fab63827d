#!/usr/bin/env python3
"""transformers' side of compare.py: by_transformers.py MODEL, a folder of Hugging Face. Tasks as serve.h has them."""

import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What transformers needs beside torch is there (./setup --oracle).
sys.path += map(str, ROOT.glob(".venv/lib/python3*/site-packages"))

import torch  # noqa: E402
import transformers  # noqa: E402


def tokens_of(count):
    return [k * 7919 % 40000 + 100 for k in range(count)]


def main():
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    model = transformers.AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
    print("ready", flush=True)
    for line in sys.stdin:
        task, count = line.split()
        tokens = tokens_of(int(count))
        pieces = [tokens] if task == "prompt" else [[t] for t in tokens]
        past = None
        start = time.process_time()
        for piece in pieces:
            out = model(torch.tensor([piece]), past_key_values=past, use_cache=True, logits_to_keep=1)
            past = out.past_key_values
        seconds = time.process_time() - start
        print(f"{seconds:.9f} {int(out.logits[0, -1].argmax())}", flush=True)


if __name__ == "__main__":
    main()
