#!/usr/bin/env python3
"""Writes sampling.json: what transformers makes of logits, and what is then chosen by which seed.

usage: sampling.py > sampling.json    (with torch, transformers and jax; made with transformers 5.24.0, jax 0.10.2)

Presence and frequency penalties, which transformers lacks, are written out here by OpenAI's definition. Choices are
made with exact integers from the bits of jax.random, as sampler.h says it.
"""

import collections
import decimal
import json
import math
import sys

import jax
import numpy as np
import torch
from transformers.generation import logits_process as hf

jax.config.update("jax_enable_x64", True)
decimal.getcontext().prec = 50

OPTIONS = {"logit_bias": {}, "repetition_penalty": 1.0, "frequency_penalty": 0.0, "presence_penalty": 0.0,
           "temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "typical_p": 1.0}


def processed(logits, prompt, answer, o, dtype):
    scores = torch.tensor([logits], dtype=dtype)
    ids = torch.tensor([prompt + answer], dtype=torch.long)
    if o["logit_bias"]:
        scores = hf.SequenceBiasLogitsProcessor([[[int(i)], float(b)] for i, b in o["logit_bias"].items()])(ids, scores)
    if o["repetition_penalty"] != 1:
        scores = hf.RepetitionPenaltyLogitsProcessor(o["repetition_penalty"])(ids, scores)
    for i, count in collections.Counter(answer).items():
        scores[0, i] -= o["frequency_penalty"] * count + o["presence_penalty"]
    if o["temperature"] == 0:
        return scores
    if o["temperature"] != 1:
        scores = hf.TemperatureLogitsWarper(o["temperature"])(ids, scores)
    if o["top_k"]:
        scores = hf.TopKLogitsWarper(o["top_k"])(ids, scores)
    if o["top_p"] < 1:
        scores = hf.TopPLogitsWarper(o["top_p"])(ids, scores)
    if o["min_p"]:
        scores = hf.MinPLogitsWarper(o["min_p"])(ids, scores)
    if o["typical_p"] < 1:
        scores = hf.TypicalLogitsWarper(o["typical_p"])(ids, scores)
    return scores


def candidates(logits, prompt, answer, o):
    if o["temperature"] == 0:
        return [[int(torch.argmax(processed(logits, prompt, answer, o, torch.float64))), 1.0]]
    scores = processed(logits, prompt, answer, o, torch.float64)
    single = processed(logits, prompt, answer, o, torch.float32)
    # No token stands at a border, where rounding decides.
    assert torch.equal(torch.isinf(scores), torch.isinf(single)), o
    p = torch.softmax(scores, -1)[0].tolist()
    return [[i, float(f"{x:.8g}")] for i, x in enumerate(p) if scores[0, i] > -math.inf]


def choices(logits, o, seed, count):
    """Of an answer without penalties: by how much of the sum of integer weights lies before the random number."""
    kept = candidates(logits, [], [], o)
    scores = [decimal.Decimal(logits[i]) / decimal.Decimal(o["temperature"]) for i, _ in kept]
    weights = [int(((s - max(scores)).exp() * 2 ** 39).to_integral_value()) for s in scores]
    chosen = []
    for bits in jax.random.bits(jax.random.key(np.uint64(seed)), (count,), "uint64"):
        left = int(bits) * sum(weights) >> 64
        place = 0
        while left >= weights[place]:
            left -= weights[place]
            place += 1
        chosen.append(kept[place][0])
    return chosen


def main():
    random = np.random.default_rng(6)

    def vector(scale, n):
        """Different numbers, as no rule says which of equals transformers keeps; few digits write them exactly."""
        numbers = []
        while len(numbers) < n:
            x = round(random.normal(scale=scale) * 256) / 256
            numbers += [] if x in numbers else [x]
        return numbers

    vectors = {"flat": vector(0.5, 150), "peaked": vector(3.0, 150), "few": vector(1.0, 7)}
    # Of both signs, which repetition penalties treat differently.
    plus, minus = ([i for i, x in enumerate(vectors["flat"]) if (x > 0) == sign] for sign in (True, False))
    seen = {"prompt": [plus[0], plus[3], plus[3], minus[9]], "answer": [plus[3], *[minus[4]] * 3, plus[40], minus[30]]}
    cases = [
        ("flat", {}), ("peaked", {}), ("few", {}), ("peaked", {"temperature": 0.0}), ("flat", {"temperature": 0.3}),
        ("peaked", {"temperature": 2.5}), ("peaked", {"top_k": 1}), ("flat", {"top_k": 3}), ("flat", {"top_k": 64}),
        ("peaked", {"top_k": 149}), ("few", {"top_k": 300}), ("few", {"top_k": 6}), ("flat", {"top_p": 0.5}),
        ("peaked", {"top_p": 0.93}), ("peaked", {"top_p": 0.001}), ("flat", {"top_p": 0.999}), ("few", {"top_p": 0.7}),
        ("flat", {"min_p": 0.3}), ("peaked", {"min_p": 0.02}), ("flat", {"typical_p": 0.4}),
        ("peaked", {"typical_p": 0.2}), ("peaked", {"typical_p": 0.95}), ("few", {"typical_p": 0.5}),
        ("peaked", {"temperature": 0.7, "top_k": 40, "top_p": 0.9, "min_p": 0.01}),
        ("flat", {"temperature": 1.5, "top_k": 100, "top_p": 0.8, "min_p": 0.2, "typical_p": 0.7}),
        ("flat", {"repetition_penalty": 1.3, **seen}), ("flat", {"repetition_penalty": 0.8, **seen}),
        ("flat", {"presence_penalty": 0.75, **seen}), ("flat", {"frequency_penalty": 0.5, **seen}),
        ("few", {"logit_bias": {"2": 1.5, "4": -18.0}}),
        ("flat", {"logit_bias": {"7": 2.0, "149": 1.25}, "repetition_penalty": 1.2, "presence_penalty": -0.5,
                  "frequency_penalty": 0.25, "temperature": 0.9, "top_k": 50, "top_p": 0.95, **seen}),
        ("peaked", {"temperature": 0.0, "repetition_penalty": 4.0, "prompt": [], "answer": [5, 7]})]
    listed = []
    for vector, changes in cases:
        changes = dict(changes)
        prompt, answer = changes.pop("prompt", []), changes.pop("answer", [])
        options = {**OPTIONS, **changes}
        listed.append({"logits": vector, "options": changes, "prompt": prompt, "answer": answer,
                       "candidates": candidates(vectors[vector], prompt, answer, options)})
    drawn = [{"logits": vector, "options": changes, "seed": seed,
              "chosen": choices(vectors[vector], {**OPTIONS, **changes}, seed, 40)}
             for vector, changes in [("flat", {}), ("peaked", {"temperature": 1.25}), ("flat", {"top_k": 20, "top_p": 0.75})]
             for seed in (0, 1, 0x123456789ABCDEF)]
    out = sys.stdout
    out.write('{"vectors": ' + json.dumps(vectors) + ',\n"cases": [\n')
    out.write(",\n".join(json.dumps(case) for case in listed))
    out.write('],\n"draws": [\n' + ",\n".join(json.dumps(draw) for draw in drawn) + "]}\n")


if __name__ == "__main__":
    main()
