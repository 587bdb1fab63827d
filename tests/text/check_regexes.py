#!/usr/bin/env python3
"""Splits texts by regular expressions of many forms, beside the package tokenizers, which runs them with Oniguruma.

usage: check_regexes.py TEXT_TOKENIZE
"""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from check_tokenizers import compare  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402

TEXTS = ["aaab", "ab aab aaaab", "b", "aabb aab\nab", "a\u00a0b\n\nb c", "éa", "AB ab Ab ß ss SS ſ K k", 'a"b[]^-&&~',
         "12 ３٣ a", "\u200b a\x85b\x0bc\x1cd", "a.b,c!d$e+f<g=h>i^j`k|l~m", "\r\na\rb", "x" * 20 + "y", "",
         "\u0345a\u0345 \u24d0b\u00b2", "語ー・゛漢 кириллица ελ\u0301"]

# What is refused is in tlaloc/text/regex_test.cc.
PATTERNS = [
    r"a{1,2}?b", r"(?i)k", r"(?-i:a)b", r"(?>a+)b", r"(a)\1", r"(?:a|b)++", r"a*+b", r"a?+b", r"[[:space:]]+", r"[[:digit:]]+",
    r"\D+", r"[\d]+", r"\W+", r"[^\w]+", r"[\S]", r"\p{Han}+", r"\p{Hiragana}+", r"\p{Greek}+", r"\p{Alpha}+", r"\p{^L}",
    r"\P{^L}+", r"\p{Lu}", r"\Aa", r"b\z", r"b\Z", r"^a", r"b$", r"(?<=a|ab)b", r"(?<!a)b", r"\x{61}", r"\141", r"\u0061",
    r"[]a]", r"[^]a]", r"[a\-b]", r"[-a]", r"(?#c)a", r"|a", r"{a}", r"a{1", r"\b", r"\B", r"[^\u0000-\u007f]+", r"\é",
]


def described(pattern):
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": None, "decoder": None,
            "pre_tokenizer": {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
            "post_processor": None, "model": {"type": "WordLevel", "vocab": {"?": 0, "a": 1, "ab": 2, "b": 3}, "unk_token": "?"}}


def main():
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "tokenizer.json"

        def differences(pattern, right):
            path.write_text(json.dumps(described(pattern)))
            return compare(sys.argv[1], str(path), Tokenizer.from_str(json.dumps(described(right))), TEXTS)

        for pattern in PATTERNS:
            for text, what in differences(pattern, pattern)[:1]:
                failures += 1
                print(f"{pattern}: {text!r}: {what}")
        # Negative control.
        if not differences("a+", "a"):
            failures += 1
            print("another expression is not noticed")
    print(f"{len(PATTERNS)} expressions, {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
