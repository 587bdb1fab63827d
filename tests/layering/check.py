#!/usr/bin/env python3
"""Checks the rules that hold across files: which folder includes which, and what no file may contain.

usage: check.py ROOT | check.py --self-test
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# What each folder of tlaloc/ may include beside itself, and all that those may include. CMakeLists.txt has the same.
LAYERS = {
    "base": [],
    "io": ["base"],
    "text": ["base"],
    "cache": ["base"],
    "ir": ["base"],
    "ops": ["ir"],
    "transform": ["ops"],
    "runtime": ["ops"],
    "interp": ["transform", "runtime"],
    "cxx": ["transform", "runtime"],
    "stablehlo": ["transform", "runtime"],
    "pjrt": ["stablehlo", "cache"],
    "iree": ["stablehlo", "cache"],
    "bounded": ["stablehlo", "interp"],
    "codegen": ["base"],
    "cpu": ["transform", "runtime", "cache", "codegen"],  # of codegen its api.h only: cpu loads the library at run time
    "lang": ["runtime", "interp", "cpu", "cxx", "pjrt", "bounded"],
    "llm": ["lang", "io", "text"],
}
UMBRELLA = "tlaloc/tlaloc.h"

CODE = {".h", ".cc", ".py", ".cmake"}
MAX_LINES = 800
# The patterns are written so that they don't match their own text.
FORBIDDEN = [
    ("path of a machine", re.compile(r"(?<![\w.~-])/(?:work|root|home|Users)/|\.\./shared\b")),
    ("host name of a package registry", re.compile(
        r"\b(?:pypi|pythonhosted|npmjs|crates|rubygems)\.(?:org|com|io)\b|\b(?:deb|security|snapshot)\.debian\."
        r"|\bproxy\.golang\.")),
    ("open-work marker", re.compile(r"\b(?:TO[D]O|FIX[M]E)\b")),
]
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def reachable(folder):
    seen, pending = set(), [folder]
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += LAYERS[name]
    return seen


def files_of(root):
    """The files that git tracks or would track; all files where there is no git."""
    if (root / ".git").exists():
        listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root,
                                check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
        paths = [root / name for name in listed if name]
    else:
        generated = {root / name for name in ("build", ".venv", "data")}
        paths = [p for p in root.rglob("*") if not generated & set(p.parents)]
    return sorted(p for p in set(paths) if p.is_file())


def check_include(folder, quote, target):
    """The complaint about one include in a file of tlaloc/<folder>, or None."""
    if quote == "<":
        return f'<{target}> is written "{target}" inside tlaloc/' if target.startswith("tlaloc/") else None
    parts = target.split("/")
    if parts[0] != "tlaloc" or len(parts) < 3:
        return f'"{target}" does not name a header of a tlaloc/ folder from the repository root'
    if parts[1] not in reachable(folder):
        return f"tlaloc/{folder} must not include tlaloc/{parts[1]}"
    return None


def check(root):
    """All complaints, as "path:line: text"; and how many files were read."""
    root = pathlib.Path(root).resolve()
    complaints, files = [], files_of(root)
    for path in files:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        name = path.relative_to(root).as_posix()
        parts = name.split("/")
        if path.suffix in CODE and len(lines) > MAX_LINES:
            complaints.append(f"{name}:{len(lines)}: more than {MAX_LINES} lines")
        layered = path.suffix in (".h", ".cc") and len(parts) > 2 and parts[0] == "tlaloc" and parts[1] in LAYERS
        for number, line in enumerate(lines, 1):
            complaints += [f"{name}:{number}: {what}" for what, pattern in FORBIDDEN if pattern.search(line)]
            include = layered and INCLUDE.match(line)
            complaint = include and check_include(parts[1], *include.groups())
            if complaint:
                complaints.append(f"{name}:{number}: {complaint}")
    names = {path.relative_to(root).as_posix() for path in files}
    for name in sorted(names):
        if name.startswith("tlaloc/") and name.endswith((".h", ".cc")) and name.count("/") == 1 and name != UMBRELLA:
            complaints.append(f"{name}:1: only {UMBRELLA} lies in tlaloc/ itself")
    for folder in sorted({name.split("/")[1] for name in names if name.startswith("tlaloc/") and name.count("/") > 1}):
        if folder not in LAYERS:
            complaints.append(f"tlaloc/{folder}:1: not in the table of layers")
        if f"tlaloc/{folder}/README.md" not in names:
            complaints.append(f"tlaloc/{folder}:1: no README.md")
    return complaints, len(files)


def self_test():
    """Negative control: each planted violation must be found, alone, and the clean tree must pass."""
    clean = {
        "tlaloc/tlaloc.h": '#include "tlaloc/lang/tensor.h"\n',
        "tlaloc/ir/README.md": "# ir\n",
        "tlaloc/ir/graph.h": '#include <vector>\n#include "tlaloc/base/error.h"\n',
        "tlaloc/cxx/README.md": "A page under https://example.org/work/ and a relative ./root/ are fine.\n",
        "tlaloc/cxx/print.cc": '#include "tlaloc/cxx/print.h"\n#include "tlaloc/ir/graph.h"\n',
        "docs/long.md": "\n" * 2000,
        "build/dev/log.txt": "/" + "work/somewhere\n",
    }
    planted = [
        ("tlaloc/ir/a.cc", '#include "tlaloc/ops/op.h"\n', "tlaloc/ir must not include tlaloc/ops"),
        ("tlaloc/cxx/a_test.cc", '#include "tlaloc/interp/run.h"\n', "tlaloc/cxx must not include tlaloc/interp"),
        ("tlaloc/ir/a.cc", '#include "graph.h"\n', "from the repository root"),
        ("tlaloc/ir/a.cc", '#  include "tests/help.h"\n', "from the repository root"),
        ("tlaloc/ir/a.cc", '#include "tlaloc/tlaloc.h"\n', "from the repository root"),
        ("tlaloc/ir/a.cc", "#include <tlaloc/base/error.h>\n", "is written"),
        ("tlaloc/ir/a.h", "//\n" * 801, "more than 800 lines"),
        ("tlaloc/new/README.md", "# new\n", "not in the table"),
        ("tlaloc/ops/op.h", "\n", "no README.md"),
        ("tlaloc/loose.h", "\n", "only tlaloc/tlaloc.h"),
        ("docs/a.md", "see /" + "work/main\n", "path of a machine"),
        ("a.sh", 'cd "/' + 'home/me"\n', "path of a machine"),
        ("a.txt", "../" + "shared/x\n", "path of a machine"),
        ("a.toml", "https://py" + "pi.org/simple\n", "package registry"),
        ("a.list", "http://deb" + ".debian.org/debian\n", "package registry"),
        ("tools/a.py", "# TO" + "DO: later\n", "open-work marker"),
    ]
    failures = 0
    for path, text, expected in [(None, None, None)] + planted:
        with tempfile.TemporaryDirectory() as root:
            for name, content in {**clean, **({path: text} if path else {})}.items():
                file = pathlib.Path(root, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(content, encoding="utf-8")
            complaints, _ = check(root)
        right = len(complaints) == 1 and expected in complaints[0] if path else not complaints
        if not right:
            failures += 1
            print(f"self-test: {path or 'clean tree'}: expected {expected or 'no complaint'}, got {complaints}")
    print(f"self-test: {len(planted)} planted violations, {failures} failures")
    return failures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--self-test":
        sys.exit(1 if self_test() else 0)
    complaints, count = check(sys.argv[1])
    for complaint in complaints:
        print(complaint)
    print(f"layering: {count} files, {len(complaints)} violations")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
