#!/usr/bin/env python3
"""Whether the speeds that pages state are those that bench/stablehlo measured last.

usage: check_speeds.py ROOT
"""

import pathlib
import re
import sys

PAGES = {"docs/pjrt.md": 6, "docs/stablehlo.md": 3}  # with how many speeds


def main():
    root = pathlib.Path(sys.argv[1])
    measured = set(re.findall(r"^\| [^|]+ \| ([\d.]+) \|", (root / "bench/stablehlo/results.md").read_text(), re.M))
    wrong = []
    for page, count in PAGES.items():
        part = (root / page).read_text().split("## What it costs")[1].split("\n## ")[0]
        stated = [n for group in re.findall(r"((?:[\d.]+ (?:to|and) )?[\d.]+) (?:MB/s|µs)", part) for n in re.findall(r"[\d.]+", group)]
        wrong += [f"{page}: {n} is not measured" for n in stated if n not in measured]
        if len(stated) != count:
            wrong.append(f"{page} states {len(stated)} speeds, not {count}")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
