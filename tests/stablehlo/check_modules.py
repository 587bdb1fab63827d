#!/usr/bin/env python3
"""Writes check/*.mlir: check_cases.py with what StableHLO's reference interpreter gives, in the project's test convention.

usage: check_modules.py           writes them
       check_modules.py --covers ROOT    whether they hold every operation that import knows

The interpreter ends the process where it lacks an operation: such a case needs its `expected`.
"""

import os
import pathlib
import re
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax._src.interpreters.mlir as mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

import check_cases

FOLDER = pathlib.Path(__file__).parent / "check"
HEAD = """// Written by check_modules.py: what is expected is what StableHLO's reference interpreter computes, or, where it
// lacks an operation, what check_cases.py says.
"""
# What no module without devices or other functions holds, by where else it is tested.
ELSEWHERE = {
    "stablehlo.all_gather": "import_test.cc", "stablehlo.all_reduce": "import_test.cc", "stablehlo.reduce_scatter": "import_test.cc",
    "stablehlo.partition_id": "exports", "stablehlo.collective_permute": "exports", "stablehlo.all_to_all": "exports",
    "stablehlo.replica_id": "mesh_test.cc",
    "stablehlo.composite": "import_test.cc", "stablehlo.custom_call": "exports", "stablehlo.dynamic_reduce_window": "exports", "sdy.mesh": "import_test.cc",
    "sdy.sharding_constraint": "mesh_test.cc", "sdy.manual_computation": "mesh_test.cc"}


def operations(case):
    return re.sub(r"^(%\w+ = )(dense<)", r"\1stablehlo.constant \2", case.text, flags=re.M)


def evaluate(case):
    text = f"func.func @main() -> {case.type} {{\n{operations(case)}\nfunc.return %r : {case.type}\n}}"
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        module.operation.verify()
        return case.expected or str(stablehlo.eval_module(module, [])[0])


def function(case, expected):
    body = "\n".join("  " + line for line in operations(case).splitlines())
    if case.tolerance is None:
        check = f"  check.expect_eq_const %r, {expected}\n"
    else:
        check = (f"  %expected = stablehlo.constant {expected}\n  stablehlo.custom_call @check.expect_almost_eq(%r, %expected) "
                 f"{{tolerance = {case.tolerance:e} : f64}} : ({case.type}, {case.type}) -> ()\n")
    return f"func.func @{case.name}() {{\n{body}\n{check}  func.return\n}}\n"


def write():
    FOLDER.mkdir(exist_ok=True)
    for file, cases in check_cases.FILES.items():
        functions = [function(case, evaluate(case)) for case in cases]
        (FOLDER / f"{file}.mlir").write_text(HEAD + "\n" + "\n".join(functions))


def covers(root):
    known = set()
    for source in (root / "tlaloc/stablehlo").glob("raise_*.cc"):
        known |= set(re.findall(r'"((?:stablehlo|chlo)\.[a-z_0-9]+)"', source.read_text()))
    text = "".join(p.read_text() for p in FOLDER.glob("*.mlir"))
    used = set(re.findall(r"\b((?:stablehlo|chlo)\.[a-z_0-9]+)\b", text))
    missing = sorted(known - used - set(ELSEWHERE))
    print("\n".join(f"no check module has {op}" for op in missing) or f"{len(known)} operations")
    return 1 if missing or not known else 0


if __name__ == "__main__":
    sys.exit(covers(pathlib.Path(sys.argv[2])) if sys.argv[1:2] == ["--covers"] else write())
