#!/usr/bin/env python3
"""Writes unicode_classes.inc: the classes of characters that the tokenizers package has, found by asking it.

usage: .venv/bin/python tlaloc/text/unicode_classes.py

The package's parts stand on several versions of Unicode: its regular expressions on 16, its own normalization on 9,
Rust's functions on 17. To split text exactly as it does, its answers are what counts.
"""

import pathlib
import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

ALL = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]


def removed(splitter, separator):
    """The characters that a pre-tokenizer removes, where each stands alone between separators."""
    text = separator.join(chr(c) for c in ALL if chr(c) != separator)
    kept = set()
    for word, _ in splitter.pre_tokenize_str(text):
        kept.update(word)
    return {c for c in ALL if chr(c) not in kept and chr(c) != separator}


def matches(pattern, separator):
    return removed(pre_tokenizers.Split(Regex(pattern), "removed"), separator)


def erased(normalizer):
    return {c for c in ALL if normalizer.normalize_str(chr(c)) == ""}


def words():
    """The characters of \\w: those that stay with a letter in front of them."""
    parts = [w for w, _ in pre_tokenizers.Whitespace().pre_tokenize_str(" ".join("a" + chr(c) for c in ALL))]
    return {ord(w[1]) for w in parts if len(w) == 2 and w[0] == "a"}


def digits():
    text = ".".join(chr(c) for c in ALL if chr(c) != ".")
    parts = pre_tokenizers.Digits(individual_digits=True).pre_tokenize_str(text)
    return {ord(w) for w, _ in parts if len(w) == 1 and w != "."}


def not_normalized():
    """What no normalization changes or moves, though today's Unicode would."""
    forms = {form: getattr(normalizers, form)() for form in ("NFD", "NFKD")}
    result = set()
    for c in ALL:
        s = chr(c)
        if unicodedata.category(s) == "Cn":
            result.add(c)
            continue
        moved = any(forms["NFD"].normalize_str(t) != unicodedata.normalize("NFD", t)
                    for other in "\u0334\u0316\u0301\u0345" for t in ("a" + s + other, "a" + other + s))
        if moved or any(forms[f].normalize_str(s) != unicodedata.normalize(f, s) for f in forms):
            result.add(c)
    return result


def main():
    bert = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
    classes = [  # in the order of the enumeration in unicode_class.h
        matches(r"\p{L}", "."),
        matches(r"\p{N}", "."),
        matches(r"\s", "."),
        matches(r"\p{M}", "."),
        matches(r"[\p{Lu}\p{Lt}]", "."),
        matches(r"\p{Ll}", "."),
        matches(r"\p{P}", "a"),
        words(),
        removed(pre_tokenizers.Punctuation("removed"), "a") | {c for c in range(33, 127) if not chr(c).isalnum()},
        digits(),
        erased(normalizers.BertNormalizer(**{**bert, "clean_text": True})),
        erased(normalizers.BertNormalizer(**{**bert, "strip_accents": True})),
        erased(normalizers.StripAccents()),
        not_normalized(),
    ]
    masks = [0] * 0x110000
    for bit, members in enumerate(classes):
        for c in members:
            masks[c] |= 1 << bit
    runs = [(c, m) for c, m in enumerate(masks) if c == 0 or m != masks[c - 1]]
    lower = normalizers.Lowercase()
    later = [(c, lower.normalize_str(chr(c))) for c in ALL]
    later = [(c, ord(s)) for c, s in later if s != chr(c).lower()]

    lines = ["// Made by unicode_classes.py from the answers of the package tokenizers 0.23.3.",
             "constexpr Run kRuns[] = {"]
    row = ""
    for item in [f"{{{c:#x}, {m:#x}}}," for c, m in runs]:
        if len(row) + len(item) > 112:
            lines.append("    " + row)
            row = ""
        row += item
    lines += ["    " + row, "};", "// Lower case of letters newer than Unicode 14.", "constexpr Run kNewerLower[] = {"]
    row = ""
    for item in [f"{{{c:#x}, {m:#x}}}," for c, m in later]:
        if len(row) + len(item) > 112:
            lines.append("    " + row)
            row = ""
        row += item
    lines += ["    " + row, "};"]
    pathlib.Path(__file__).with_name("unicode_classes.inc").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
