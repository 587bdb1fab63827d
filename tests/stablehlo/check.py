#!/usr/bin/env python3
"""Parses, verifies and evaluates the modules that the conformance cases are emitted as, with jaxlib.

usage: check.py PROGRAM FOLDER EVERY    PROGRAM writes the cases into FOLDER: see modules.cc

All are parsed; each EVERY-th case of an operation is evaluated.

Parsing and verification is MLIR's; evaluation is the StableHLO project's reference interpreter, which ends its process
where it lacks an operation, so it runs in children. What it lacks is listed in NOT_EVALUATED.
"""

import json
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import subprocess
import sys

import numpy as np

# Operations that the reference interpreter of jaxlib 0.10.2 lacks, by what its modules hold.
NOT_EVALUATED = ("chlo.", "sdy.", "stablehlo.cholesky", "stablehlo.triangular_solve")
# Cases that it computes worse than anybody: it rounds the exponential inside to f16, which overflows.
WORSE = ("logistic/f16",)
# Where an integer is divided by zero it ends its process, or may.
ENDS = ("div", "rem")
ENDED = "the reference interpreter ended its process"
WORKERS = 2


def load(folder):
    cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
    modules = iter((folder / "modules.mlir").read_text().split("// -----\n")[1:])
    results = (folder / "results.bin").read_bytes()
    at = 0
    for case in cases:
        if case["refused"]:
            continue
        case["module"] = next(modules)
        case["expected"] = []
        for dtype, shape in case["results"]:
            bits = {"f16": "u2", "bf16": "u2", "f32": "f4", "f64": "f8", "bool": "?"}.get(dtype) or (
                dtype[0] + str(int(dtype[1:]) // 8))
            array = np.frombuffer(results, dtype="<" + bits, count=int(np.prod(shape)), offset=at).reshape(shape)
            at += array.nbytes
            case["expected"].append(array)
    assert at == len(results)
    return cases


def ordered(bits):
    """Bits of floats as integers in the order of the floats, both zeros at 0."""
    lowest = np.iinfo(bits.dtype).min
    wide = bits.astype(object) if bits.dtype.itemsize == 8 else bits.astype(np.int64)
    return np.where(bits < 0, int(lowest) - wide, wide)


def difference(dtype, expected, got, ulps):
    """What differs, or None. Any NaN equals any other."""
    if dtype not in ("f16", "bf16", "f32", "f64"):
        wrong = got.astype(np.int64) != expected.astype(np.int64)
    else:
        size = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}[dtype]
        if size == 2:
            got, ulps = got.astype(np.uint16), 1 if ulps else 0
        a, b = (np.ascontiguousarray(x).view(f"i{size}") for x in (expected, got))
        infinity = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}[dtype]
        magnitude = np.iinfo(a.dtype).max
        nan_a, nan_b = ((x & magnitude) > infinity for x in (a, b))
        wrong = (nan_a != nan_b) | (~nan_a & ((abs(ordered(a) - ordered(b)) > ulps) | ((a < 0) != (b < 0)) & (ulps == 0)))
        expected, got = a, b
    if not wrong.any():
        return None
    i = int(np.flatnonzero(wrong)[0])
    return f"element {i} of {dtype}{list(expected.shape)}: expected {expected.flat[i]}, got {got.flat[i]}"


def context():
    import jax._src.interpreters.mlir as mlir
    return mlir.make_ir_context()


def evaluate(case):
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo
    with context():
        results = stablehlo.eval_module(ir.Module.parse(case["module"]), [])
    got = [np.array(r) for r in results]
    # Results of axes whose size a run finds out are padded; what is extra follows the graph's own.
    for (dtype, shape), expected, value in zip(case["results"], case["expected"], got):
        value = value[tuple(slice(0, n) for n in shape)] if value.ndim else value
        text = difference(dtype, expected, value.reshape(shape), case["ulps"])
        if text:
            return text
    return None


def work(connection, folder):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    cases = load(folder)
    while True:
        index = connection.recv()
        try:
            text = evaluate(cases[index])
        except Exception as error:  # a report, not the end of the others
            text = f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
        connection.send((index, text))


def evaluate_all(folder, indices):
    """Failures by index. A child that dies is one for the case it had."""
    failures, queue, children = {}, list(reversed(indices)), {}
    processes = multiprocessing.get_context("spawn")  # MLIR's threads do not survive a fork

    def start():
        here, there = processes.Pipe()
        child = processes.Process(target=work, args=(there, folder), daemon=True)
        child.start()
        there.close()
        children[here] = child
        feed(here)

    current = {}

    def feed(connection):
        if queue:
            current[connection] = queue.pop()
            connection.send(current[connection])
        else:
            children.pop(connection).kill()

    for _ in range(WORKERS):
        start()
    while children:
        for connection in multiprocessing.connection.wait(list(children)):
            try:
                index, text = connection.recv()
                if text:
                    failures[index] = text
                feed(connection)
            except EOFError:
                failures[current[connection]] = ENDED
                children.pop(connection)
                if queue:
                    start()
    return failures


def check_the_check(cases):
    """Negative control: a wrong bit and an ill-typed module must be found."""
    case = next(c for c in cases if c["name"] == "add/f32[3, 5]")
    wrong = case["expected"][0].copy()
    wrong.view("u4").flat[7] ^= 1
    assert "element 7" in difference("f32", wrong, case["expected"][0], 0)
    from jaxlib.mlir import ir
    with context():
        try:
            ir.Module.parse(case["module"].replace("tensor<3x5xf32>) -> tensor<3x5xf32>", "tensor<3x5xf32>) -> tensor<3xf32>"))
        except ir.MLIRError:
            return
    sys.exit("the parser took an ill-typed module")


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    os.environ["JAX_PLATFORMS"] = "cpu"
    folder = pathlib.Path(sys.argv[2])
    subprocess.run([sys.argv[1], str(folder)], check=True)
    cases = load(folder)
    check_the_check(cases)
    emitted = [i for i, c in enumerate(cases) if not c["refused"]]
    failures = {}
    from jaxlib.mlir import ir
    with context():
        for i in emitted:
            try:
                ir.Module.parse(cases[i]["module"]).operation.verify()
            except Exception as error:
                failures[i] = "parser: " + str(error).replace("\n", " ")[:300]
    todo, seen = [], {}
    for i in emitted:
        turn = seen[cases[i]["op"]] = seen.get(cases[i]["op"], -1) + 1
        if turn % int(sys.argv[3]) == 0 and i not in failures and not any(
                op in cases[i]["module"] for op in NOT_EVALUATED) and not cases[i]["name"].startswith(WORSE):
            todo.append(i)
    failures.update(evaluate_all(folder, todo))
    ended = [i for i, text in failures.items() if text == ENDED and cases[i]["op"] in ENDS]
    for i in ended:
        del failures[i]
    by_op = {}
    for i, text in failures.items():
        by_op.setdefault(cases[i]["op"], []).append(f"{cases[i]['name']}: {text}")
    for op, texts in by_op.items():
        print(f"{op}: {len(texts)} failed")
        for text in texts[:3]:
            print("  " + text)
    print(f"{len(emitted)} modules parsed, {len(todo) - len(ended)} evaluated, {len(ended)} divide by zero, "
          f"{len(cases) - len(emitted)} cases refused, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
