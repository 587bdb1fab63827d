#!/usr/bin/env python3
"""Runs `tlaloc tokenize` on a small tokenizer.

usage: check_tokenize.py COMMAND
"""

import json
import pathlib
import subprocess
import sys
import tempfile

SPECIAL = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
TOKENIZER = {
    "version": "1.0",
    "added_tokens": [{"id": 0, "content": "<s>", **SPECIAL}],
    "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
                                                               {"Sequence": {"id": "A", "type_id": 0}}],
                       "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                       "special_tokens": {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}},
    "decoder": {"type": "Fuse"},
    "model": {"type": "BPE", "vocab": {"<s>": 0, "a": 1, "b": 2, "ab": 3, "é": 4}, "merges": [["a", "b"]]}}


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "tokenizer.json")
        path.write_text(json.dumps(TOKENIZER), encoding="utf-8")

        def expect(text, options, out, error="", model=folder):
            nonlocal failures
            run = subprocess.run([sys.argv[1], "tokenize", "--model", str(model), *options], input=text.encode(),
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            if run.stdout.decode() != out or (error not in run.stderr.decode()) or (run.returncode == 0) == bool(error):
                failures += 1
                print(f"{options} {text!r}: {run.returncode} {run.stdout.decode()!r} {run.stderr.decode()!r}")

        expect("abba", [], "0 3 2 1\n")
        expect("abba", ["--no-special"], "3 2 1\n", model=path)
        expect("", ["--no-special"], "\n")
        expect("0 3 4\n", ["--decode"], "<s>abé")
        expect("0 3", ["--decode", "--no-special"], "ab")
        expect("", ["--decode"], "")
        expect('"ab"\n"\\u00e9"\n', ["--jsonl"], '{"ids":[0,3]}\n{"ids":[0,4]}\n')
        expect('{"ids": [3, 4]}\n[1]\n', ["--jsonl", "--decode"], '"abé"\n"a"\n')
        expect("3\n", ["--jsonl"], "", "TL-TOKENIZER-007: tlaloc: line 1 is no JSON string")
        expect('"x"\n', ["--jsonl", "--decode"], "", "TL-TOKENIZER-007: tlaloc: line 1 has no list of ids")
        expect("-3", ["--decode"], "", "TL-TOKENIZER-007: tlaloc: the input has what is no id")
        expect('"x\n', ["--jsonl"], "", "TL-JSON-001")
        expect("", [], "", "TL-FILE-001", model="no/such/folder")
        blob = pathlib.Path(folder, "blob")
        blob.write_bytes(b"GGUF")  # by what it has, whatever its name is
        expect("", [], "", "TL-GGUF-001", model=blob)
    print(f"{failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
