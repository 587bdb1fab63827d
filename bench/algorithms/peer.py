#!/usr/bin/env python3
"""The same with NumPy and SciPy on one thread: .venv/bin/python bench/algorithms/peer.py"""

import os
import statistics
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np
import scipy.linalg as sl

random = np.random.default_rng(1)
line = random.uniform(-1, 1, 1 << 20).astype(np.float32)
square = random.uniform(-1, 1, (1024, 1024)).astype(np.float32)
matrix = random.uniform(-1, 1, (1000, 1000)).astype(np.float32) + 1000 * np.eye(1000, dtype=np.float32)
sides = random.uniform(-1, 1, (1000, 1000)).astype(np.float32)


def largest():
    at = np.argpartition(line, -100)[-100:]
    return line[at[np.argsort(-line[at], kind="stable")]]


cases = {
    "sort, 1048576": lambda: np.sort(line),
    "sort, 1048576, stable": lambda: np.sort(line, kind="stable"),
    "sort, 1024 x 1024": lambda: np.sort(square, axis=1),
    "argsort, 1048576, stable": lambda: np.argsort(line, kind="stable"),
    "top_k, 100 of 1048576": largest,
    "argmax, 1024 x 1024": lambda: np.argmax(square, axis=1),
    "argmax, 1024 x 1024 by columns": lambda: np.argmax(square, axis=0),
    "cumsum, 1024 x 1024": lambda: np.cumsum(square, axis=1),
    "cumsum, 1024 x 1024 by columns": lambda: np.cumsum(square, axis=0),
    "cumlogsumexp, 1024 x 1024": lambda: np.logaddexp.accumulate(square, axis=1),
    "cholesky, 1000": lambda: sl.cholesky(matrix, lower=True, check_finite=False),
    "triangular_solve, 1000 x 1000": lambda: sl.solve_triangular(matrix, sides, lower=True, check_finite=False),
    "triangular_solve from the right, transposed": lambda: sl.solve_triangular(
        matrix, sides.T, lower=True, check_finite=False
    ).T,
}
print("| f32 | ms |\n|---|---:|")
for name, f in cases.items():
    f()
    times = []
    for _ in range(7):
        start = time.process_time()
        f()
        times.append(time.process_time() - start)
    print(f"| {name} | {1e3 * statistics.median(times):.2f} |")
