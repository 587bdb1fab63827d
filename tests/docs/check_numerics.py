#!/usr/bin/env python3
"""Holds docs/numerics.md against the tests: check_numerics.py ROOT.

Every row of the table names a test that exists, and every test of tests/lang/numerics_test.cc is named.
"""

import pathlib
import re
import sys

TEST = re.compile(r"^TEST\((\w+), (\w+)\)", re.MULTILINE)


def tests_in(*paths: pathlib.Path) -> set[str]:
    return {f"{suite}.{name}" for path in paths for suite, name in TEST.findall(path.read_text(encoding="utf-8"))}


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    own = tests_in(root / "tests/lang/numerics_test.cc")
    folders = ("tests/cpu", "tests/ops", "tlaloc/lang")
    known = own | tests_in(*(path for folder in folders for path in (root / folder).glob("*_test.cc")))
    faults, named = [], set()
    lines = (root / "docs/numerics.md").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if not line.startswith("| ") or line.startswith("| where"):
            continue
        tests = re.findall(r"`(\w+\.\w+)`", line.rsplit(" | ", 1)[1])
        named.update(tests)
        if not tests:
            faults.append(f"docs/numerics.md:{number}: names no test")
        faults += [f"docs/numerics.md:{number}: no test {test}" for test in tests if test not in known]
    faults += [f"docs/numerics.md does not name {test}" for test in sorted(own - named)]
    print("\n".join(faults) or f"{len(named)} tests named")
    return min(len(faults), 1)


if __name__ == "__main__":
    sys.exit(main())
