"""What serve.h is for C++: the same pipe, the same inputs."""

import ctypes
import gc
import os
import re
import sys
import time

import numpy as np


def uniform(seed, *shape, scale=1.0, dtype=np.float32):
    h = np.arange(int(np.prod(shape)), dtype=np.uint32)
    h += np.uint32(seed * 0x9E3779B9 & 0xFFFFFFFF)
    h ^= h >> np.uint32(16)
    h *= np.uint32(0x7FEB352D)
    h ^= h >> np.uint32(15)
    h *= np.uint32(0x846CA68B)
    h ^= h >> np.uint32(16)
    values = (h >> np.uint32(8)).astype(dtype) * dtype(2.0**-23) - dtype(1)
    return (dtype(scale) * values).reshape(shape)


def integers(seed, *shape, bound):
    u = uniform(seed, *shape, scale=0.5, dtype=np.float64)
    return ((u + 0.5) * bound).astype(np.int32)


def memory(field):
    with open("/proc/self/status") as status:
        return int(re.search(rf"^{field}:\s+(\d+)", status.read(), re.M)[1])


def trim():
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)


def serve(step):
    trim()  # what the inputs were made in
    before = memory("VmRSS")
    print("ready", flush=True)
    i = 0
    for line in sys.stdin:
        count = int(line)
        if count < 0:  # steps that find no memory kept
            trim()
            count = -count
        with open("/proc/self/clear_refs", "w") as refs:
            refs.write("5")
        start = time.process_time()
        for _ in range(count):
            value = step(i)
            i += 1
        ms = 1e3 * (time.process_time() - start)
        print(f"{ms:.6f} {float(value):.17g} {memory('VmHWM') - before}", flush=True)


def main(programs):
    """PEER NAME [SIZE]: serves one of the programs, functions that return their step."""
    name, *size = sys.argv[1:]
    if name not in programs:
        sys.exit(os.EX_USAGE)  # compare.py: this peer has no such program
    serve(programs[name](*map(int, size)))
