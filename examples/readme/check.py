#!/usr/bin/env python3
"""Checks that the README shows this program and what it prints: check.py PROGRAM SOURCE README."""

import subprocess
import sys


def main() -> int:
    program, source, readme = sys.argv[1:]
    text = open(readme, encoding="utf-8").read()
    printed = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    code = open(source, encoding="utf-8").read()
    failures = 0
    for what, part in (("the program", code), ("what it prints", printed)):
        if part.strip() not in text:
            print(f"README.md does not show {what} as it is:\n{part}")
            failures += 1
    return failures


if __name__ == "__main__":
    sys.exit(main())
