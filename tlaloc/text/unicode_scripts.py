#!/usr/bin/env python3
"""Writes unicode_scripts.inc: the scripts that the tokenizers package splits at, found by asking it.

usage: .venv/bin/python tlaloc/text/unicode_scripts.py

It has scripts of a Unicode of its own, older than that of its other parts, and Hiragana and Katakana are Han to it.
"""

import pathlib

from tokenizers import pre_tokenizers

ALL = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
SPLIT = pre_tokenizers.UnicodeScripts().pre_tokenize_str


def main():
    # What belongs to any script starts no piece.
    any_script = {c for c in ALL if not SPLIT(chr(c))}
    scripts = {}  # the first character of each: its number
    runs = []
    for piece, _ in SPLIT("".join(chr(c) for c in ALL if c not in any_script)):
        first = ord(piece[0])
        same = [n for other, n in scripts.items() if len(SPLIT(chr(other) + piece[0])) == 1]
        number = same[0] if same else scripts.setdefault(first, len(scripts) + 1)
        runs += [(ord(c), number) for c in piece]
    numbers = dict(runs)
    runs = [(c, numbers.get(c, 0)) for c in ALL if c == 0 or numbers.get(c, 0) != numbers.get(c - 1, 0)]
    assert len(scripts) < 256
    lines = ["// Made by unicode_scripts.py from the answers of the package tokenizers 0.23.3.", "constexpr Run kRuns[] = {"]
    row = ""
    for item in [f"{{{c:#x}, {n}}}," for c, n in runs]:
        if len(row) + len(item) > 112:
            lines.append("    " + row)
            row = ""
        row += item
    lines += ["    " + row, "};"]
    pathlib.Path(__file__).with_name("unicode_scripts.inc").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
