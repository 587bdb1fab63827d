#!/usr/bin/env python3
"""Holds a page against the program it is about: check_snippets.py PROGRAM SOURCE PAGE.

Every block of the page fenced as cpp or text must stand in SOURCE or in what PROGRAM prints, line by
line; only indentation may differ. Blocks fenced otherwise (shell, cmake, none) are left alone.
"""

import re
import subprocess
import sys


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def contains(whole: list[str], part: list[str]) -> bool:
    return any(whole[i : i + len(part)] == part for i in range(len(whole) - len(part) + 1))


def main() -> int:
    program, source, page = sys.argv[1:]
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    wholes = [lines_of(printed), lines_of(open(source, encoding="utf-8").read())]
    text = open(page, encoding="utf-8").read()
    blocks = list(re.finditer(r"^```(?:cpp|text)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    if not blocks:
        print(f"{page} shows nothing of the program")
        return 1
    failures = 0
    for block in blocks:
        if not any(contains(whole, lines_of(block[1])) for whole in wholes):
            line = text.count("\n", 0, block.start()) + 1
            print(f"{page}:{line}: neither in {source} nor in what it prints:\n{block[1]}")
            failures += 1
    if failures:
        print(f"it prints:\n{printed}")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main())
