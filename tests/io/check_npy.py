"""Compares .npy files with NumPy's.

usage: check_npy.py IO_CONVERT
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

DTYPES = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16,
          ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128]
SHAPES = [(), (0,), (1,), (7,), (3, 4), (2, 0, 5), (2, 3, 5), (4, 1, 3, 2), (1,) * 32, (93, 2)]


def array(dtype, shape, random):
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    data = random.integers(0, 2 if dtype == np.bool_ else 256, size=size, dtype=np.uint8)
    return np.frombuffer(data.tobytes(), dtype).reshape(shape)


def main():
    convert = sys.argv[1]
    random = np.random.default_rng(0)
    failures = count = 0
    with tempfile.TemporaryDirectory() as folder:
        given, written, wanted = (pathlib.Path(folder, name) for name in ("given.npy", "written.npy", "wanted.npy"))
        for dtype, shape in itertools.product(DTYPES, SHAPES):
            a = array(dtype, shape, random)
            np.save(wanted, a)
            kinds = [("C", a, (1, 0)), ("Fortran", np.asarray(a, order="F"), (2, 0)), ("version 3", a, (3, 0))]
            if dtype not in (np.bool_, ml_dtypes.bfloat16):
                kinds.append(("big endian", a.astype(np.dtype(dtype).newbyteorder(">")), (1, 0)))
            for kind, content, version in kinds:
                with open(given, "wb") as file:
                    np.lib.format.write_array(file, content, version)
                subprocess.run([convert, "npy", given, written], check=True)
                count += 1
                if written.read_bytes() != wanted.read_bytes():
                    failures += 1
                    print(f"{np.dtype(dtype)}{list(shape)}, {kind}: differs from numpy.save")
        # Negative control: another array's file must not pass for it.
        np.save(wanted, np.arange(3))
        np.save(given, np.arange(1, 4))
        subprocess.run([convert, "npy", given, written], check=True)
        if written.read_bytes() == wanted.read_bytes():
            failures += 1
            print("a wrong file is not noticed")
    print(f"npy: {count} files, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
