#!/usr/bin/env python3
"""Counts the instructions of fixed pieces of work, and compares them with those on record.

usage: check.py PROGRAM [--update]

Instructions are counted by valgrind's callgrind: the same from run to run, whatever else the machine does. They depend
on the compiler and the C library, so the record (counts.txt) is that of one configuration, of which CMakeLists.txt says
when it is checked. After a change that is meant, write the record anew with --update.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

RECORD = pathlib.Path(__file__).with_name("counts.txt")
# Hash tables by address and what the C library makes of the processor change a little.
TOLERANCE = 0.03


def count(program, name):
    environment = dict(os.environ, TLALOC_NUM_THREADS="1", TLALOC_CODEGEN="off", TLALOC_CACHE="off")
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
         "--toggle-collect=counted", program, name], env=environment, stderr=subprocess.PIPE, text=True)
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or not collected:
        raise SystemExit(f"{name}: valgrind failed\n{run.stderr}")
    return int(collected[1])


def main():
    program = sys.argv[1]
    if not shutil.which("valgrind"):
        raise SystemExit("valgrind is missing; ./setup --build installs it")
    names = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    have = {name: count(program, name) for name in names}
    if "--update" in sys.argv[2:]:
        RECORD.write_text("".join(f"{name}: {n}\n" for name, n in have.items()))
        return 0
    want = dict(line.rsplit(": ", 1) for line in RECORD.read_text().splitlines())
    failures = 0
    for name in sorted(have.keys() | want.keys()):
        if name not in have or name not in want:
            print(f"{name}: only {'counted' if name in have else 'on record'}")
            failures += 1
            continue
        ratio = have[name] / int(want[name])
        bad = abs(ratio - 1) > TOLERANCE
        failures += bad
        print(f"{name}: {have[name]}, {ratio:.3f} of the record{' TOO FAR' if bad else ''}")
    if failures:
        print(f"if that is meant: {sys.argv[0]} {program} --update")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
