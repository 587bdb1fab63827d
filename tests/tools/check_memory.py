#!/usr/bin/env python3
"""Runs the command where memory ends: that is an error with a code, as any other.

usage: check_memory.py COMMAND
"""

import resource
import struct
import subprocess
import sys
import tempfile

LIMIT = 1 << 30


def main():
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as model:
        # JSON takes a multiple of its text.
        header = b'{"a":[' + b"0," * 40_000_000 + b"0]}"
        model.write(struct.pack("<Q", len(header)) + header)
        model.flush()
        run = subprocess.run([sys.argv[1], "inspect", model.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT)))
    print(run)
    return 0 if run.returncode == 1 and "tlaloc: TL-MEM-001: could not allocate memory" in run.stderr else 1


if __name__ == "__main__":
    sys.exit(main())
