#!/usr/bin/env python3
"""Measures what the public headers cost: seconds of compiler time to parse them, milliseconds per operation.

usage: measure.py [--repeats N] [--compiler COMMAND]... [--write]

User time of -fsyntax-only, the least of N runs, since other work on the machine only adds to it. An operation's cost is
that of 200 blocks with its operands and the call, minus the same file without them, over 200, minus what declaring the
operands costs; on new types each block has sizes of its own, on seen types all have the same. --write puts the tables into results.md beside this file.
"""

import argparse
import os
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
    "select(p, x, 0)": "Tensor<float, batch, K> x; Tensor<bool, batch, K> p; auto y = select(p, x, 0);",
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
    headers = ["tlaloc/lang/core.h", "tlaloc/lang/tensor.h", "tlaloc/lang/operators.h", "tlaloc/lang/tree_std.h",
               "tlaloc/lang/transform_types.h", "tlaloc/tlaloc.h"]
    rows = [f"## {version}", "", "| header | s |", "|---|---:|"]
    for header in headers:
        whole = seconds(compiler, f"#include <{header}>\n", repeats)
        rows.append(f"| `{header}` | {whole:.2f} |")
    rows += ["", "| operation | new types, ms | seen types, ms |", "|---|---:|---:|"]
    base = seconds(compiler, program("", True), repeats)

    def milliseconds(statements):
        return [max(seconds(compiler, program(statements, new), repeats) - base, 0) / CALLS * 1e3 for new in (True, False)]

    variable = milliseconds("Tensor<float, batch, K> x;")
    rows.append(f"| a tensor variable | {variable[0]:.2f} | {variable[1]:.2f} |")
    worst = [0.0, 0.0]
    for name, statements in OPERATIONS.items():
        cost = [max(total - statements.count("Tensor<") * one, 0)
                for total, one in zip(milliseconds(statements), variable)]
        worst = [max(a, b) for a, b in zip(worst, cost)]
        rows.append(f"| `{name}` | {cost[0]:.2f} | {cost[1]:.2f} |")
    rows += ["", f"The whole header: {whole:.2f} s (limit {UMBRELLA_SECONDS}). Worst operation: {worst[0]:.2f} ms on new "
             f"types (limit {NEW_MS:g}), {worst[1]:.2f} ms on seen ones (limit {SEEN_MS})."]
    return rows


def machine():
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
               platform.machine())
    return f"{os.cpu_count()} cores, {cpu}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--compiler", action="append")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    compilers = [c for c in options.compiler or ["g++", "clang++-19"] if shutil.which(c)]
    command = f"bench/headers/measure.py --repeats {options.repeats}"
    rows = ["# What the public headers cost", "",
            f"`{command} --write`: compiler time in user mode, least of {options.repeats} runs. An operation's",
            f"operands are declared beside it; their cost is taken off. Machine: {machine()}; load {os.getloadavg()[0]:.1f} at the start.", ""]
    for compiler in compilers:
        rows += measure(compiler, options.repeats) + [""]
    text = "\n".join(rows).rstrip() + "\n"
    print(text)
    if options.write:
        (FOLDER / "results.md").write_text(text)


if __name__ == "__main__":
    main()
