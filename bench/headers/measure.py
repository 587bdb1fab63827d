#!/usr/bin/env python3
"""Measures what the public headers cost: seconds of compiler time to parse them, milliseconds per operation.

usage: measure.py [--repeats N] [--compiler COMMAND]... [--write]

User time of -fsyntax-only, the least of N runs, since other work on the machine only adds to it. An operation's cost is
that of 200 calls, minus the same file without them, over 200; on new types each call has sizes of its own, on seen types
all have the same. --write puts the table into results.txt beside this file.
"""

import argparse
import pathlib
import platform
import resource
import shutil
import subprocess
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent
CALLS = 200
# Aims, on the g++ of Debian 12: seconds, then milliseconds.
UMBRELLA_SECONDS, NEW_MS, SEEN_MS = 0.9, 5.0, 0.5

# Statements of one call; K and N are sizes, new ones for each call or always the same.
OPERATIONS = {
    "variable only": "Tensor<float, batch, K> x;",
    "relu(x)": "Tensor<float, batch, K> x; auto y = relu(x);",
    "x + x": "Tensor<float, batch, K> x; auto y = x + x;",
    "x * 2.0": "Tensor<float, batch, K> x; auto y = x * 2.0;",
    "x + b": "Tensor<float, batch, K> x; Tensor<float, K> b; auto y = x + b;",
    "sum(x, batch)": "Tensor<float, batch, K> x; auto y = sum(x, batch);",
    "sum<1>(x)": "Tensor<float, batch, K> x; auto y = sum<1>(x);",
    "matmul(x, w)": "Tensor<float, batch, K> x; Tensor<float, K, N> w; auto y = matmul(x, w);",
    "transpose(x)": "Tensor<float, batch, K> x; auto y = transpose(x);",
    "reshape<K, batch>(x)": "Tensor<float, batch, K> x; auto y = reshape<K, batch>(x);",
    "softmax(x)": "Tensor<float, batch, K> x; auto y = softmax(x);",
    "select(x > 0, x, 0)": "Tensor<float, batch, K> x; auto y = select(x > 0, x, 0);",
    "einsum": 'Tensor<float, batch, K> x; Tensor<float, K, N> w; auto y = einsum<"bk,kn->bn">(x, w);',
}


def seconds(compiler, text, repeats):
    best = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "a.cc")
        path.write_text(text)
        for _ in range(repeats):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([compiler, "-std=c++20", "-fsyntax-only", f"-I{ROOT}", str(path)], check=True)
            best = min(best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return best


def program(statements, new):
    lines = ["#include <tlaloc/tlaloc.h>", "using namespace tl;", "inline constexpr Axis<struct Batch> batch;",
             "void f() {"]
    for i in range(CALLS if statements else 0):
        k, n = (10 + i, 300 + i) if new else (10, 300)
        lines.append("  { " + statements.replace("<K", f"<{k}").replace(" K", f" {k}").replace(" N", f" {n}") + " }")
    return "\n".join(lines) + "\n}\n"


def measure(compiler, repeats):
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    rows = [f"{version}", ""]
    rows.append(f"{'header':34}{'seconds':>9}")
    for header in ["lang/core.h", "lang/tensor.h", "lang/operators.h", "lang/tree_std.h", "lang/transform_types.h"]:
        rows.append(f"{'tlaloc/' + header:34}{seconds(compiler, f'#include <tlaloc/{header}>', repeats):9.2f}")
    whole = seconds(compiler, "#include <tlaloc/tlaloc.h>\n", repeats)
    rows.append(f"{'tlaloc/tlaloc.h (all)':34}{whole:9.2f}")
    rows += ["", f"{'operation':34}{'new types, ms':>14}{'seen types, ms':>16}"]
    base = seconds(compiler, program("", True), repeats)
    worst = [0.0, 0.0]
    for name, statements in OPERATIONS.items():
        cost = [max(seconds(compiler, program(statements, new), repeats) - base, 0) / CALLS * 1e3
                for new in (True, False)]
        worst = [max(a, b) for a, b in zip(worst, cost)]
        rows.append(f"{name:34}{cost[0]:14.2f}{cost[1]:16.2f}")
    rows.append("")
    rows.append(f"aims: header {UMBRELLA_SECONDS} s, {NEW_MS} ms on new types, {SEEN_MS} ms on seen ones; "
                f"here {whole:.2f} s, at most {worst[0]:.2f} ms and {worst[1]:.2f} ms")
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--compiler", action="append")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    compilers = [c for c in options.compiler or ["g++", "clang++-19"] if shutil.which(c)]
    command = f"bench/headers/measure.py --repeats {options.repeats}"
    rows = ["What the public headers cost. Command: " + command,
            f"Compiler time in user mode, least of {options.repeats} runs, on {platform.machine()}.", ""]
    for compiler in compilers:
        rows += measure(compiler, options.repeats) + [""]
    text = "\n".join(rows)
    print(text)
    if options.write:
        (FOLDER / "results.txt").write_text(text)


if __name__ == "__main__":
    main()
