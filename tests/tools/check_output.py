#!/usr/bin/env python3
"""Runs the command with an output that takes nothing: no part of what it has to say may be lost in silence.

usage: check_output.py COMMAND
"""

import struct
import subprocess
import sys
import tempfile

MODULE = "graph @f {} (%x: f32[4]) -> (f32[4]) {\n  %1 = tanh(%x) : f32[4]\n  return %1\n}\n"


def main():
    failures = []
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as model:
        model.write(struct.pack("<Q", 2) + b"{}")
        model.flush()
        for arguments in (["inspect", model.name], ["inspect", "--json", model.name], ["explain", "-"],
                          ["explain", "--json", "-"], ["--help"]):
            run = subprocess.run([sys.argv[1], *arguments], input=MODULE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 text=True)
            if run.returncode != 0 or not run.stdout:
                failures.append(f"{arguments}: {run}")
            with open("/dev/full", "w") as full:
                run = subprocess.run([sys.argv[1], *arguments], input=MODULE, stdout=full, stderr=subprocess.PIPE, text=True)
            wanted = "TL-FILE-001: tlaloc: can't write all of the output: No space left on device"
            if run.returncode != 1 or wanted not in run.stderr:
                failures.append(f"{arguments} on a full disk: {run}")
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
