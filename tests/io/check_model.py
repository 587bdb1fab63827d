"""Reads a real model, SmolLM2-135M-Instruct in GGUF, and compares it with what the gguf package reads.

usage: check_model.py IO_CONVERT MODEL
"""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from gguf import GGUFReader
from gguf.quants import dequantize

NAMES = ["token_embd.weight", "blk.0.attn_norm.weight", "blk.0.attn_q.weight", "blk.29.ffn_down.weight"]  # Q8_0, F32, Q4_1


def main():
    convert, model = sys.argv[1], pathlib.Path(sys.argv[2])
    if not model.exists():
        print(f"{model} is missing: run ./setup --data")
        return 1
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        # Metadata with its 49,152 tokens, 272 tensors and their places: all written again.
        subprocess.run([convert, "gguf", model, folder / "written.gguf"], check=True)
        if (folder / "written.gguf").read_bytes() != model.read_bytes():
            failures.append("the file is not written as it was read")
        tensors = {t.name: t for t in GGUFReader(model).tensors}
        subprocess.run([convert, "dequantize", model, folder, *NAMES], check=True)
        for i, name in enumerate(NAMES):
            wanted = dequantize(tensors[name].data, tensors[name].tensor_type)
            got = np.load(folder / f"{i}.npy")
            if got.shape != wanted.shape or (got.view(np.uint32) != wanted.view(np.uint32)).any():
                failures.append(f"{name} decodes to other numbers")
        # Negative control: another layer's numbers are others.
        other = dequantize(tensors["blk.1.attn_q.weight"].data, tensors["blk.1.attn_q.weight"].tensor_type)
        if np.array_equal(np.load(folder / "2.npy"), other):
            failures.append("a wrong tensor is not noticed")
    for failure in failures:
        print(failure)
    print(f"model: {len(tensors)} tensors, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
