#!/usr/bin/env python3
"""SmolLM2's own tokenizer, from its GGUF file: ids of `tlaloc tokenize` beside the package tokenizers.

usage: check_smollm2.py COMMAND MODEL

The package gets the vocabulary and merges of the file, and the splitting that `tokenizer.ggml.pre` names: each digit
by itself, then words as GPT-2 splits them.
"""

import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import gguf  # noqa: E402
from random_texts import Texts  # noqa: E402
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers  # noqa: E402


def reference(path):
    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(m.split(" ")) for m in fields["tokenizer.ggml.merges"].contents()]
    kinds = fields["tokenizer.ggml.token_type"].contents()
    assert fields["tokenizer.ggml.pre"].contents() == "smollm"
    t = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False)])
    t.decoder = decoders.ByteLevel()
    t.add_special_tokens([AddedToken(s, normalized=False, special=True) for s, k in zip(tokens, kinds) if k == 3])
    return t


def run(command, model, lines, *options):
    done = subprocess.run([command, "tokenize", "--model", model, "--jsonl", *options],
                          input="".join(json.dumps(line) + "\n" for line in lines).encode(),
                          stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.decode().split("\n") if line]


def main():
    command, model = sys.argv[1:]
    t = reference(model)
    random = Texts(2, ["<|im_start|>", "<|im_end|>", "<|endoftext|>"])
    strings = ["", "a  12 x²3", "The capital of France is"] + [random.text() for _ in range(3000)]
    got = [line["ids"] for line in run(command, model, strings)]
    want = [e.ids for e in t.encode_batch(strings)]
    wrong = [i for i in range(len(strings)) if got[i] != want[i]]
    decoded = run(command, model, want, "--decode")
    wrong += [i for i in range(len(strings)) if decoded[i] != t.decode(want[i], skip_special_tokens=False)]
    for i in wrong[:3]:
        print(f"{strings[i]!r}: {got[i]} {decoded[i]!r}, expected {want[i]}")
    # Known from the rule, so that a reference that is wrong itself is noticed.
    if got[1][:4] != [81, 256, 33, 34]:
        wrong.append(1)
        print(f"digits are not tokens of their own: {got[1]}")
    print(f"{len(strings)} strings, {len(wrong)} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
