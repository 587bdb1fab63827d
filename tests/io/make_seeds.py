#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets of tlaloc/io, with the reference programs.

usage: .venv/bin/python tests/io/make_seeds.py
"""

import io
import pathlib

import numpy as np
from safetensors.numpy import save

ROOT = pathlib.Path(__file__).resolve().parents[2] / "tlaloc/io/testdata"


def npy():
    for name, array, version in [
            ("matrix", np.arange(6, dtype=np.float32).reshape(2, 3), (1, 0)),
            ("fortran", np.asarray(np.arange(6, dtype=np.int16).reshape(2, 3), order="F"), (2, 0)),
            ("swapped", np.arange(3, dtype=">c8"), (3, 0)), ("bool", np.array(True), (1, 0))]:
        file = io.BytesIO()
        np.lib.format.write_array(file, array, version)
        yield name, file.getvalue()


def safetensors():
    yield "empty", save({})
    yield "two", save({"a.weight": np.arange(3, dtype=np.float32), "b": np.zeros((2, 0), np.int8)}, {"format": "pt"})
    yield "escapes", save({"\"\n\u00e9": np.arange(3, dtype=np.uint8)})


def main():
    for make in npy, safetensors:
        folder = ROOT / f"{make.__name__}_fuzz"
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in make():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
