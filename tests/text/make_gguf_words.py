#!/usr/bin/env python3
"""Writes goldens/gguf_words.json: how llama.cpp splits words by the names of `tokenizer.ggml.pre`, read from its source.

usage: make_gguf_words.py LLAMA_VOCAB_CPP WHERE_FROM > goldens/gguf_words.json

Of expressions that a comment quotes from the model's tokenizer.json, that one is taken.
"""

import hashlib
import json
import pathlib
import re
import sys

STRING = r'"((?:[^"\\]|\\.)*)"'
TYPE = r"LLAMA_VOCAB_PRE_TYPE_(\w+)"


def between(source, first, last):
    begin = source.index(first)
    return source[begin:source.index(last, begin)]


def names_of(source):
    part = between(source, 'if (tokenizer_pre == "default")', "unknown pre-tokenizer type")
    names = {}
    for branch in part.split("} else if"):
        for name in re.findall(rf"tokenizer_pre == {STRING}", branch):
            names[name] = {"type": re.search(rf"pre_type = {TYPE};", branch)[1], "ignore_merges": "ignore_merges = true" in branch,
                           "add_bos": "add_bos = true" in branch}
    return names


def patterns_of(source):
    part = between(source, "switch (vocab.get_pre_type())", "std::vector<std::string> regex_exprs;")
    patterns = {}
    for block in part.split("break;"):
        original, found = None, []
        for line in block.splitlines():
            if quoted := re.match(rf'\s*//[^"]*{STRING}', line):
                original = quoted[1]
            elif own := re.match(rf"\s*{STRING}", line):
                found.append(json.loads(f'"{original or own[1]}"'))
                original = None
        for kind in re.findall(rf"case {TYPE}:", block):
            patterns[kind] = found
    return patterns


def main():
    text = pathlib.Path(sys.argv[1]).read_bytes()
    source = text.decode()
    names, patterns = names_of(source), patterns_of(source)
    used = {n["type"] for n in names.values()}
    golden = {"source": f"src/llama-vocab.cpp of {sys.argv[2]}", "sha256": hashlib.sha256(text).hexdigest(), "names": names,
              "patterns": {kind: p for kind, p in patterns.items() if kind in used}}
    print(json.dumps(golden, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
