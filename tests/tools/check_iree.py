#!/usr/bin/env python3
"""Runs modules with `tlaloc run --backend iree`, and looks at what `tlaloc doctor` says of IREE.

usage: check_iree.py COMMAND IREE    IREE: the virtual environment that has it
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

MODULE = """graph @layer {n} (%x: f32[n, 2], %w: f32[2, 3]) -> (f32[n, 3]) {
  %2 = dot_general(%x, %w) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[n, 3]
  %3 = tanh(%2) : f32[n, 3]
  return %3
}
"""
CHECKS = """func.func @right() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %1 = stablehlo.add %0, %0 : tensor<2xi32>
  check.expect_eq_const %1, dense<[2, 4]> : tensor<2xi32>
  func.return
}
func.func @wrong() {
  %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %0, dense<[1, 3]> : tensor<2xi32>
  func.return
}
"""


def installed(environment, package):
    """The version that the package's own metadata says."""
    metadata, = pathlib.Path(environment).glob(f"lib/python3*/site-packages/{package}-*.dist-info/METADATA")
    return next(line.removeprefix("Version: ") for line in metadata.read_text().splitlines() if line.startswith("Version: "))


def main():
    command, iree = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "layer.txt").write_text(MODULE)
        (folder / "checks.mlir").write_text(CHECKS)

        def run(*arguments, environment):
            r = subprocess.run([command, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={k: v for k, v in os.environ.items() if k != "VIRTUAL_ENV"} | environment)
            return r.returncode, r.stdout, r.stderr

        def expect(condition, what):
            if not condition:
                failures.append(what)

        here = {"TLALOC_IREE": iree, "TLALOC_PJRT_PLUGIN": "none", "TLALOC_CACHE": "off"}
        wanted = str([[math.tanh(a * u + b * v) for u, v in zip((.1, .2, .3), (-.1, -.2, -.3))] for a, b in ((1, 2), (3, 5))])
        arguments = ["run", "layer.txt", "--backend", "iree", "--input", "[[1, 2], [3, 5]]",
                     "--input", "[[0.1, 0.2, 0.3], [-0.1, -0.2, -0.3]]", "--tolerance", "1e-6"]
        got = run(*arguments, "--expect", wanted, environment=here)
        expect(got[:2] == (0, "result 0: as expected\n"), f"a module: {got}")
        got = run(*arguments, "--expect", "0", environment=here)
        expect(got[0] == 1 and "6 of 6 elements" in got[1], f"a wrong result: {got}")
        got = run("run", "--check", "checks.mlir", "--backend", "iree", environment=here)
        expect(got[0] == 1 and "pass checks.mlir: right\nFAIL checks.mlir: wrong: checks.mlir:9: 1 of 2" in got[1]
               and got[1].endswith("2 functions, 1 failures\n"), f"tests: {got}")

        got = run("doctor", environment=here)
        lines = got[1].splitlines()
        compiler, runner = installed(iree, "iree_base_compiler"), installed(iree, "iree_base_runtime")
        expect(any(line.startswith(f"iree          {compiler}, {iree}/") for line in lines), f"the compiler's version: {got}")
        expect(any(line.startswith(f"  runner      {runner}, {iree}/") for line in lines), f"the runner's version: {got}")
        expect(any(line == f"  looked in   {iree}" for line in lines), f"where IREE was looked for: {got}")
        report = json.loads(run("doctor", "--json", environment=here)[1])["iree"]
        expect(report["compiler_version"] == compiler and report["runner_version"] == runner, f"versions: {report}")

        nowhere = here | {"TLALOC_IREE": str(folder / "gone"), "HOME": str(folder)}
        got = run(*arguments, environment=nowhere)
        expect(got[0] == 1 and "TL-IREE-001" in got[2] and "./setup --iree" in got[2], f"without IREE: {got}")
        got = run("doctor", environment=nowhere)
        expect("iree          none: name a virtual environment in TLALOC_IREE" in got[1]
               and f"  looked in   {folder}/gone" in got[1], f"doctor without IREE: {got}")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
