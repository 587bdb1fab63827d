"""Compares safetensors files with the reference library's, byte for byte and both ways.

usage: check_safetensors.py IO_CONVERT
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import numpy as np
from safetensors import TensorSpec, deserialize, safe_open, serialize

BYTES = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
         "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8, "complex64": 8, "float8_e4m3fn": 1,
         "float8_e4m3fnuz": 1, "float8_e5m2": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1, "float4_e2m1fn_x2": 1}
NAMES = ["weight", "model.layers.0.self_attn.q_proj.weight", "a \"quoted\" \\ name", "tab\tnewline\n\x01\x1f\x7f",
         "é, 中, 😀, \u2028", "/", ""]


def reference(tensors, metadata):
    specs, keep = {}, []
    for name, dtype, shape, data in tensors:
        buffer = np.frombuffer(data, np.uint8).copy()
        keep.append(buffer)
        specs[name] = TensorSpec(dtype=dtype, shape=shape, data_ptr=buffer.ctypes.data, data_len=len(data))
    return bytes(serialize(specs, metadata))


def random_tensors(random, count):
    tensors = []
    for i in range(count):
        dtype = list(BYTES)[i % len(BYTES)] if i < 2 * len(BYTES) else random.choice(list(BYTES))
        shape = [int(n) for n in random.integers(0, 6, size=random.integers(0, 4))]
        if dtype == "float4_e2m1fn_x2":
            shape.append(int(random.integers(1, 5)))
        size = int(np.prod(shape, dtype=np.int64)) * BYTES[dtype]
        data = random.integers(0, 2 if dtype == "bool" else 256, size=size, dtype=np.uint8).tobytes()
        name = NAMES[i] if i < len(NAMES) else f"tensor.{random.integers(10**9)}.{i}"
        tensors.append((name, dtype, shape, data))
    return tensors


def content(data):
    """What the reference library reads: name → dtype, shape, bytes."""
    return {name: (t["dtype"], tuple(t["shape"]), bytes(t["data"])) for name, t in deserialize(data)}


def raw(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def main():
    convert = sys.argv[1]
    random = np.random.default_rng(0)
    failures = []

    def expect(condition, what):
        if not condition:
            failures.append(what)

    def write(given, out, *options):
        return subprocess.run([convert, "safetensors", given, out, *options], capture_output=True, text=True)

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        given, written = folder / "given.safetensors", folder / "written.safetensors"
        files = 0
        # The reference library keeps metadata in a hash table: with more than one key its order is another each time.
        for count, metadata in [(0, None), (0, {"k": "v"}), (1, None), (len(BYTES), {"format": "pt"}), (100, {"": "é\n\"😀"}),
                                (300, {"a": "1", "b": "2", "c": "3"}), (100, None)]:
            data = reference(random_tensors(random, count), metadata)
            given.write_bytes(data)
            run = write(given, written)
            expect(run.returncode == 0 and written.read_bytes() == data, f"{count} tensors, {metadata}: {run.stderr}")
            files += 1

        # Storage that the library reads and its Python side can't write.
        odd = {"a": {"dtype": "F6_E2M3", "shape": [3, 4], "data_offsets": [0, 9]},
               "b": {"dtype": "F6_E3M2", "shape": [2, 2, 3], "data_offsets": [9, 18]},
               "c": {"dtype": "F4", "shape": [2, 3], "data_offsets": [18, 21]}}
        given.write_bytes(raw(odd, bytes(range(21))))
        run = write(given, written)
        expect(run.returncode == 0 and content(written.read_bytes()) == content(given.read_bytes()), f"six bits: {run.stderr}")

        # Shards, with the index that the library's users read.
        data = reference(random_tensors(random, 200), {"format": "pt"})
        given.write_bytes(data)
        sharded = folder / "sharded"
        sharded.mkdir()
        expect(write(given, sharded / "model.safetensors", "2000").returncode == 0, "shards are written")
        index = json.loads((sharded / "model.safetensors.index.json").read_text(encoding="utf-8"))
        shards, biggest = sorted(set(index["weight_map"].values())), max(len(t[2]) for t in content(data).values())
        expect(len(shards) > 2 and shards[0] == f"model-00001-of-{len(shards):05}.safetensors", f"shards: {shards}")
        together = {}
        for shard in shards:
            tensors = content((sharded / shard).read_bytes())
            expect(all(index["weight_map"][name] == shard for name in tensors), f"the index of {shard}")
            expect(sum(len(t[2]) for t in tensors.values()) <= max(2000, biggest), f"the size of {shard}")
            together |= tensors
            with safe_open(sharded / shard, "np") as file:
                expect(file.metadata() == {"format": "pt"}, f"the metadata of {shard}")
        expect(together == content(data), "the tensors of all shards")
        expect(index["metadata"]["total_size"] == sum(len(t[2]) for t in together.values()), "total_size")
        for path in sharded, sharded / "model.safetensors.index.json":
            write(path, written)
            expect(written.read_bytes() == data, f"shards read back from {path.name}")

        # Both refuse the same files, the library for its reasons.
        entry = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
        bad = {"hole": raw({"a": {**entry, "data_offsets": [4, 8]}}, bytes(8)),
               "overlap": raw({"a": entry, "b": entry}, bytes(4)), "tail": raw({"a": entry}, bytes(5)),
               "cut off": raw({"a": entry}, bytes(3)), "long header": struct.pack("<Q", 100_000_001) + bytes(100),
               "type": raw({"a": {**entry, "dtype": "F33"}}, bytes(4)), "no header": b"", "text": b"{}" * 8,
               "size": raw({"a": {**entry, "shape": [2]}}, bytes(4)), "list": raw([], b""),
               "overflow": raw({"a": {**entry, "shape": [2**40, 2**40]}}, bytes(4)),
               "half a byte": raw({"a": {"dtype": "F4", "shape": [3], "data_offsets": [0, 2]}}, bytes(2))}
        for what, data in bad.items():
            given.write_bytes(data)
            written.unlink(missing_ok=True)
            run = write(given, written)
            expect(run.returncode == 1 and "TL-" in run.stderr and not written.exists(), f"{what}: {run}")
            try:
                deserialize(data)
                expect(False, f"{what}: the reference library reads it")
            except Exception as e:  # its own type is not exported by all versions
                expect("Safetensor" in type(e).__name__, f"{what}: {e!r}")

        # Negative control.
        a, b = (reference([("a", "float32", [1], bytes([i, 0, 0, 0]))], None) for i in (1, 2))
        given.write_bytes(a)
        write(given, written)
        expect(written.read_bytes() != b, "a wrong file is not noticed")
    for failure in failures:
        print(failure)
    print(f"safetensors: {files} files, {len(bad)} bad ones, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
