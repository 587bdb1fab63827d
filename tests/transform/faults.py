#!/usr/bin/env python3
"""Plants faults in the rules of differentiation, one at a time, and shows that the tests find each.

usage: faults.py SCRATCH [NAME ...]
       faults.py --check             only: does the text that each fault replaces stand exactly once?

Copies the sources to SCRATCH, builds them there (cmake options from $FAULT_CMAKE), and for each fault of faults.txt edits
one place, builds, and runs the test programs in order until one fails. Prints a table; exit status 1 if a fault was
missed, or if the text it replaces no longer stands exactly once.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TESTS = ["linear", "programs", "complexity", "random"]
# A fault may make a loop run forever, which counts as found.
SECONDS = 400


def read_faults():
    """(name, file, old, new) from faults.txt: blocks of `name | file`, `- old` and `+ new` lines."""
    faults = []
    for block in (pathlib.Path(__file__).parent / "faults.txt").read_text().strip().split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("#")]
        if not lines:
            continue
        name, file = (part.strip() for part in lines[0].split("|"))
        old = "\n".join(line[2:] for line in lines[1:] if line[0] == "-")
        new = "\n".join(line[2:] for line in lines[1:] if line[0] == "+")
        faults.append((name, file, old, new))
    return faults


def build(scratch):
    targets = [f"transform_{name}_test" for name in TESTS]
    run = subprocess.run(["cmake", "--build", scratch / "build", "--target", *targets], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    return run.stdout if run.returncode else None


def first_failure(scratch):
    """What finds the fault: the first failing test, or the program that did not end."""
    for name in TESTS:
        program = scratch / f"build/tests/transform/transform_{name}_test"
        try:
            run = subprocess.run([program, "--gtest_brief=1", "--gtest_fail_fast"], cwd=scratch, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"{name}: does not end"
        if run.returncode:
            failed = [line.split("]")[1].split(",")[0].split("(")[0].strip() for line in run.stdout.splitlines()
                      if line.startswith("[  FAILED  ]")]
            return f"{name}: {failed[0] if failed else f'status {run.returncode}'}"
    return None


def check():
    stale = [f"{file}: {name}" for name, file, old, _ in read_faults() if (ROOT / file).read_text().count(old) != 1]
    print("\n".join(["stale faults:", *stale]) if stale else "every fault can be planted")
    sys.exit(bool(stale))


def main():
    if sys.argv[1:] == ["--check"]:
        check()
    scratch = pathlib.Path(sys.argv[1]).resolve()
    wanted = sys.argv[2:]
    scratch.mkdir(parents=True, exist_ok=True)
    for name in ("CMakeLists.txt", "cmake", "tlaloc", "tests", "examples", "bench"):
        source, target = ROOT / name, scratch / name
        if source.is_file():
            shutil.copy2(source, target)
        else:
            shutil.copytree(source, target, dirs_exist_ok=True)
    subprocess.run(["cmake", "-S", scratch, "-B", scratch / "build", "-G", "Ninja", "--log-level=WARNING",
                    *os.environ.get("FAULT_CMAKE", "").split()], check=True, stdout=subprocess.DEVNULL)
    if output := build(scratch):
        sys.exit("the sources do not build:\n" + output[-3000:])
    if found := first_failure(scratch):
        sys.exit(f"the tests fail without a fault: {found}")
    missed = 0
    for name, file, old, new in read_faults():
        if wanted and name not in wanted:
            continue
        path = scratch / file
        text, start = path.read_text(), time.time()
        if text.count(old) != 1:
            result = f"STALE: the text stands {text.count(old)} times in {file}"
        else:
            path.write_text(text.replace(old, new))
            output = build(scratch)
            result = f"STALE: does not build: {output[-400:]}" if output else first_failure(scratch) or "NOT FOUND"
            path.write_text(text)
        missed += result.startswith(("STALE", "NOT"))
        print(f"{name:<58} {result}  ({time.time() - start:.0f} s)", flush=True)
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
