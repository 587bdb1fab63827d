"""Compares .npy and .npz files with NumPy's.

usage: check_npy.py IO_CONVERT
"""

import itertools
import pathlib
import struct
import subprocess
import sys
import tempfile
import zipfile

import ml_dtypes
import numpy as np

DTYPES = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16,
          ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128]
SHAPES = [(), (0,), (1,), (7,), (3, 4), (2, 0, 5), (2, 3, 5), (4, 1, 3, 2), (1,) * 32, (93, 2)]


def array(dtype, shape, random):
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    data = random.integers(0, 2 if dtype == np.bool_ else 256, size=size, dtype=np.uint8)
    return np.frombuffer(data.tobytes(), dtype).reshape(shape)


def with_zip64(data):
    """The archive with one entry, as if its sizes and places were beyond 32 bits."""
    end = data.rindex(b"PK\5\6")
    start, = struct.unpack_from("<I", data, end + 16)
    head, name_bytes = bytearray(data[start:start + 46]), struct.unpack_from("<H", data, start + 28)[0]
    packed, size = struct.unpack_from("<II", head, 20)
    place, = struct.unpack_from("<I", head, 42)
    extra = struct.pack("<HHH", 7, 2, 0) + struct.pack("<HHQQQ", 1, 24, size, packed, place)
    struct.pack_into("<II", head, 20, 2**32 - 1, 2**32 - 1)
    struct.pack_into("<H", head, 30, len(extra))
    struct.pack_into("<I", head, 42, 2**32 - 1)
    directory = bytes(head) + data[start + 46:start + 46 + name_bytes] + extra
    end64 = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, 1, 1, len(directory), start)
    locator = struct.pack("<IIQI", 0x07064B50, 0, start + len(directory), 1)
    last = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 4) + b"note"
    return data[:start] + directory + end64 + locator + last


def check_npz(convert, folder, random):
    """The complaints, and how many archives were compared."""
    given, written = folder / "given.npz", folder / "written.npz"
    arrays = {f"{np.dtype(t)}.{i}": array(t, s, random) for t in DTYPES for i, s in enumerate(SHAPES[:7]) if t != ml_dtypes.bfloat16}
    arrays |= {"\u00e9/\U0001f600": np.zeros((300, 1000)), "": np.arange(7)}
    complaints = []

    def compare(what, wanted, *options):
        subprocess.run([convert, "npz", given, written, *options], check=True)
        with zipfile.ZipFile(written) as file:
            if file.testzip() is not None:
                complaints.append(f"{what}: damaged")
        with np.load(written) as got:
            same = list(got) == list(wanted) and all(
                got[k].dtype == v.dtype and got[k].shape == v.shape and got[k].tobytes() == v.tobytes() for k, v in wanted.items())
        if not same:
            complaints.append(f"{what}: other arrays")

    for save in np.savez, np.savez_compressed:
        for options in (), ("deflated",):
            save(given, **arrays)
            compare(f"{save.__name__}, {options}", arrays, *options)
    if written.stat().st_size > given.stat().st_size * 1.1:
        complaints.append(f"deflated to {written.stat().st_size} bytes, where NumPy takes {given.stat().st_size}")
    for save in np.savez, np.savez_compressed:
        save(given, x=np.arange(1000))
        given.write_bytes(with_zip64(given.read_bytes()))
        with np.load(given) as file:  # what was made is an archive indeed
            compare("ZIP64", dict(file))
    np.savez(given)
    compare("nothing", {})
    return complaints, 7


def main():
    convert = sys.argv[1]
    random = np.random.default_rng(0)
    failures = count = 0
    with tempfile.TemporaryDirectory() as folder:
        given, written, wanted = (pathlib.Path(folder, name) for name in ("given.npy", "written.npy", "wanted.npy"))
        # One type in every rank, so that headers end everywhere between two multiples of 64.
        for dtype, shape in [*itertools.product(DTYPES, SHAPES), *((np.int8, (1,) * rank) for rank in range(64))]:
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
        complaints, archives = check_npz(convert, pathlib.Path(folder), random)
        print(*complaints, sep="\n", end="\n" if complaints else "")
        failures += len(complaints)
    print(f"npy: {count} files, {archives} archives, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
