#!/usr/bin/env python3
"""Checks that each error code of the sources has a page in docs/errors and a test that names it, and each page a code."""

import pathlib
import re
import sys

CODE = re.compile(r"TL-[A-Z]+-\d{3}")


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    used, tested = set(), set()
    for path in [*(root / "tlaloc").rglob("*"), *(root / "tools").rglob("*")]:
        if path.suffix not in (".h", ".cc"):
            continue
        codes = set(CODE.findall(path.read_text(encoding="utf-8")))
        if path.stem.endswith("_test"):
            tested |= codes
        elif not path.stem.endswith(("_fuzz", "_bench")):
            used |= codes
    for path in [*(root / "tests").rglob("*.cc"), *(root / "tests" / "tools").rglob("*.py")]:
        tested |= set(CODE.findall(path.read_text(encoding="utf-8")))
    pages = {p.stem for p in (root / "docs" / "errors").glob("TL-*.md")}
    index = set(CODE.findall((root / "docs" / "errors" / "README.md").read_text(encoding="utf-8")))
    failures = [f"{code} has no page in docs/errors" for code in sorted(used - pages)]
    failures += [f"no test names {code}" for code in sorted(used - tested)]
    failures += [f"docs/errors/{code}.md is about a code that nothing uses" for code in sorted(pages - used)]
    failures += [f"docs/errors/README.md does not list {code}" for code in sorted(pages - index)]
    print("\n".join(failures) or f"{len(used)} codes, each with a page and a test")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
