#!/usr/bin/env python3
"""Writes the seeds of the fuzz targets of tlaloc/io, with the reference programs.

usage: .venv/bin/python tests/io/make_seeds.py
"""

import io
import json
import pathlib
import tempfile

import numpy as np
from gguf import GGMLQuantizationType as Type, GGUFValueType as Value, GGUFWriter
from gguf.constants import GGML_QUANT_SIZES
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


def npz():
    for save in np.savez, np.savez_compressed:
        file = io.BytesIO()
        save(file, a=np.arange(6, dtype=np.float32).reshape(2, 3), b=np.zeros(40, np.int8))
        yield save.__name__, file.getvalue()


def safetensors():
    yield "empty", save({})
    yield "two", save({"a.weight": np.arange(3, dtype=np.float32), "b": np.zeros((2, 0), np.int8)}, {"format": "pt"})
    yield "escapes", save({"\"\n\u00e9": np.arange(3, dtype=np.uint8)})


def safetensors_index():
    weight_map = {"a": "model-00001-of-00002.safetensors", "b": "model-00002-of-00002.safetensors"}
    yield "two", json.dumps({"metadata": {"total_size": 8}, "weight_map": weight_map}).encode()


def gguf():
    def file(tensors, values):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.gguf")
            writer = GGUFWriter(path, "test")
            for key, value, kind in values:
                writer.add_key_value(key, value, kind)
            for kind in tensors:
                writer.add_tensor(kind.name, np.full((1, GGML_QUANT_SIZES[kind][1]), 60, np.uint8), raw_dtype=kind)
            writer.write_header_to_file()
            writer.write_kv_data_to_file()
            writer.write_tensors_to_file()
            writer.close()
            return path.read_bytes()

    yield "tensors", file([Type.F32, Type.F16, Type.BF16, Type.Q8_0, Type.IQ1_S], [])
    yield "blocks", file([kind for kind in Type if kind.name.startswith(("Q", "IQ4", "TQ", "MX", "NV"))], [])
    yield "values", file([], [
        ("general.alignment", 64, Value.UINT32), ("b", True, Value.BOOL), ("f", 1.5, Value.FLOAT64),
        ("t", ["a", ""], Value.ARRAY), ("n", [[1], [2, 3]], Value.ARRAY), ("u", 7, Value.UINT8)])


def main():
    for make in npy, npz, safetensors, gguf:
        folder = ROOT / f"{make.__name__}_fuzz"
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in make():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
