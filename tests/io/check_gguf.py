"""Compares GGUF files, and what their blocks decode to, with the gguf package, bit for bit and both ways.

usage: check_gguf.py IO_CONVERT
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
from gguf import GGMLQuantizationType as Type, GGUFReader, GGUFValueType as Value, GGUFWriter
from gguf.constants import GGML_QUANT_SIZES
from gguf.quants import dequantize, quantize

DECODED = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL",
           "IQ4_XS", "TQ1_0", "TQ2_0", "MXFP4", "NVFP4"]
ENCODED = ["F32", "F16", "BF16", "Q4_0", "Q8_0"]
# Where blocks have f16 scales: random bits would often be infinities and NaN, whose bits no program promises.
SCALES = {"F16": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0], "TQ1_0": [52], "TQ2_0": [64]}
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def random_blocks(random, name, rows, blocks):
    _, size = GGML_QUANT_SIZES[Type[name]]
    data = random.integers(0, 256, (rows * blocks, size), dtype=np.uint8)
    for at in SCALES.get(name, []):
        scale = random.integers(0, 0x7C00, rows * blocks, dtype=np.uint16) | random.choice([0, 0x8000], rows * blocks).astype(np.uint16)
        data[:, at:at + 2] = scale.view(np.uint8).reshape(-1, 2)
    if name in ("F32", "BF16"):  # exponents below that of infinity
        data[:, -1] = random.choice([0x3F, 0xBF, 0x00, 0x7E], rows * blocks)
    if name == "MXFP4":  # the largest exponents make infinities of most numbers
        data[:, 0] %= 0xF8
    return data.reshape(rows, blocks * size)


def write(path, tensors, values=(), alignment=None):
    """tensors: name, type, bytes as rows; values: a function of the writer each."""
    writer = GGUFWriter(path, "test")
    if alignment:
        writer.add_custom_alignment(alignment)
    for add in values:
        add(writer)
    for name, kind, data in tensors:
        writer.add_tensor(name, data, raw_dtype=Type[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path.read_bytes()


def values():
    scalars = {Value.UINT8: 255, Value.INT8: -128, Value.UINT16: 65535, Value.INT16: -2**15, Value.UINT32: 2**32 - 1,
               Value.INT32: -2**31, Value.FLOAT32: 1.5e-40, Value.BOOL: True, Value.STRING: "é\n\0😀", Value.UINT64: 2**64 - 1,
               Value.INT64: -2**63, Value.FLOAT64: 1e308}
    for kind, value in scalars.items():
        yield lambda w, k=kind, v=value: w.add_key_value(f"a.{k.name}", v, k)
        yield lambda w, k=kind, v=value: w.add_key_value(f"list.{k.name}", [v] * 3, Value.ARRAY, k)
    yield lambda w: w.add_key_value("nested", [[1, 2], [3]], Value.ARRAY)
    yield lambda w: w.add_key_value("nested.twice", [[["a"], ["b", ""]], [["c"]]], Value.ARRAY)
    yield lambda w: w.add_array("tokens", [f"token {i}" for i in range(1000)])
    yield lambda w: w.add_string("é", "a key that is not ASCII")


def main():
    convert = sys.argv[1]
    random = np.random.default_rng(0)

    def run(*arguments):
        return subprocess.run([convert, *arguments], capture_output=True, text=True)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        given, written = folder / "given.gguf", folder / "written.gguf"

        # The same bytes: metadata of every type, tensors of every type, alignments.
        every = [(f"blk.{i}.{kind.name}", kind.name, random_blocks(random, kind.name, 3, 2)) for i, kind in enumerate(Type)]
        shapes = [("scalar.f64", "F64", np.array(1.5)), ("empty.f32", "F32", np.zeros((2, 0, 3), np.float32)),
                  ("f32.4d", "F32", random.random((2, 3, 4, 5), np.float32))]
        for what, tensors, metadata, alignment in [
                ("empty", [], [], None), ("metadata", [], values(), None), ("types", every + shapes, [], None),
                ("both", every, values(), 64), ("alignment 8", every, [], 8)]:
            data = write(given, tensors, metadata, alignment)
            done = run("gguf", given, written)
            expect(done.returncode == 0 and written.read_bytes() == data, f"{what}: {done.stderr}")
        # Version 2 differs in its number only.
        data = write(given, every, values())
        given.write_bytes(data[:4] + struct.pack("<I", 2) + data[8:])
        run("gguf", given, written)
        expect(written.read_bytes() == data, "version 2")

        # Decoding, to the last bit.
        tensors = [(name, name, random_blocks(random, name, 4, 64 if GGML_QUANT_SIZES[Type[name]][0] > 1 else 4096))
                   for name in DECODED]
        write(given, tensors)
        done = run("dequantize", given, folder, *DECODED)
        expect(done.returncode == 0, done.stderr)
        for i, (name, _, data) in enumerate(tensors):
            with np.errstate(all="ignore"):
                wanted = dequantize(data, Type[name])
            got = np.load(folder / f"{i}.npy")
            expect(got.shape == wanted.shape, f"{name}: shape {got.shape}, where {wanted.shape} is due")
            same = got.view(np.uint32) == wanted.view(np.uint32)
            expect(same.all(), f"{name}: {np.count_nonzero(~same)} of {same.size} numbers differ: "
                               f"{got[~same][:3]}, where {wanted[~same][:3]} is due")
            # Negative control: one bit of a block is seen.
            data[0, -1] ^= 1
            with np.errstate(all="ignore"):
                expect((dequantize(data, Type[name]).view(np.uint32) != got.view(np.uint32)).any(), f"{name}: control")
        # Each F16 and BF16 there is, but NaN, whose payload is free.
        everything = np.arange(65536, dtype=np.uint16)
        for name in "F16", "BF16":
            write(given, [("x", name, everything.view(np.uint8))])
            run("dequantize", given, folder, "x")
            got, wanted = np.load(folder / "0.npy"), dequantize(everything.view(np.uint8), Type[name])
            expect(np.array_equal(np.isnan(got), np.isnan(wanted)), f"{name}: NaN")
            same = (got.view(np.uint32) == wanted.view(np.uint32)) | np.isnan(wanted)
            expect(same.all(), f"{name}: {np.count_nonzero(~same)} differ")
        for kind in Type:
            if kind.name in DECODED:
                continue
            write(given, [("x", kind.name, random_blocks(random, kind.name, 1, 1))])
            done = run("dequantize", given, folder, "x")
            expect(done.returncode == 1 and f"TL-QUANT-002: dequantize: {given}: 'x' is stored as {kind.name}," in done.stderr,
                   f"{kind.name} is refused: {done}")

        # Encoding, to the same bytes.
        ties = np.arange(-512, 512, dtype=np.float32) / 4
        arrays = [random.normal(size=(64, 512)).astype(np.float32), (random.normal(size=(64, 64)) * 1e-6).astype(np.float32),
                  np.zeros((2, 64), np.float32), -np.zeros((2, 64), np.float32), ties.reshape(4, 256),
                  np.sign(random.normal(size=(8, 32))).astype(np.float32),
                  random.integers(-3, 4, size=(64, 32)).astype(np.float32),
                  np.float32(10.0) ** random.integers(-7, 4, size=(64, 32)).astype(np.float32)]
        for i, array in enumerate(arrays):
            np.save(folder / "x.npy", array)
            for name in ENCODED:
                done = run("quantize", folder / "x.npy", written, name)
                expect(done.returncode == 0, f"{name}: {done.stderr}")
                got = bytes(GGUFReader(written).tensors[0].data.tobytes())
                expect(got == quantize(array, Type[name]).tobytes(), f"array {i} as {name} differs")
        np.save(folder / "x.npy", np.full(32, np.inf, np.float32))
        done = run("quantize", folder / "x.npy", written, "Q8_0")
        expect(done.returncode == 1 and f"quantize: {folder}/x.npy: Q8_0 has no number for element 0, inf" in done.stderr, f"inf: {done}")
    for failure in failures:
        print(failure)
    print(f"gguf: {len(DECODED)} types decoded, {len(ENCODED)} encoded, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
