#!/usr/bin/env python3
"""Runs `tlaloc explain` on a module and looks at what it says.

usage: check_explain.py COMMAND
"""

import json
import subprocess
import sys

MODULE = """graph @layer {n} (%x: f32[n, 4], %w: f32[4, 3]) -> (f32[n, 3]) {
  %2 = dot_general(%x, %w) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[n, 3]
  %3 = tanh(%2) : f32[n, 3]
  return %3
}
"""


def call(*arguments, module=MODULE):
    run = subprocess.run([sys.argv[1], "explain", "-", *arguments], input=module, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    return run.returncode, run.stdout, run.stderr


def main():
    failures = []

    def expect(condition, what):
        if not condition:
            failures.append(what)

    code, out, err = call("--dim", "n=5", "--json")
    expect(code == 0, f"--json fails: {err}")
    report = json.loads(out)
    expect(report["sizes"] == ["n = 5"], f"sizes: {report['sizes']}")
    expect(report["kernels"][0]["flops"] == 2 * 5 * 4 * 3, "flops of the product")
    expect(report["kernels"][0]["calls"] == 0, "nothing ran")
    expect(report["result_bytes"] == 5 * 3 * 4, "bytes of the result")

    code, out, err = call("--dim", "n=64", "--run", "--json")
    expect(code == 0, f"--run fails: {err}")
    report = json.loads(out)
    expect(report["kernels"][0]["calls"] == 1 and report["kernels"][0]["seconds"] > 0, "the product is timed")

    code, out, err = call("--dim", "n=5")
    expect(code == 0 and "layer on cpu: 2 kernels" in out and "5x4x3" in out, f"text: {out}{err}")

    for arguments, message in [
            ((), "TL-SHAPE-004: layer: nothing gives the size n"),
            (("--dim", "m=3"), "TL-SHAPE-004: tlaloc: there is no size 'm'; give sizes such as n=128; the module takes n"),
            (("--dim", "n=-3"), "TL-SHAPE-004: tlaloc: 'n=-3' is no size"),
            (("--dim", "n"), "TL-SHAPE-004: tlaloc: 'n' is no size"),
            (("--dim", "n=3", "--dim", "n=4"), "TL-SHAPE-004: tlaloc: the size 'n' is given twice"),
    ]:
        code, out, err = call(*arguments)
        expect(code == 1 and message in err, f"{arguments}: {code} {err}")
    code, out, err = call(module="graph")
    expect(code == 1 and "<stdin>:1:6: TL-TEXT-001" in err, f"a broken module: {err}")
    code, out, err = call("--dim", "n=5", module=MODULE.replace("lhs_contract=[1]", "lhs_contract=[7]"))
    expect(code == 1 and "TL-TEXT-002" in err and "<stdin>" in err and "defect" not in err, f"a wrong module: {err}")
    for path in "no/such/file", "/":
        run = subprocess.run([sys.argv[1], "explain", path], stderr=subprocess.PIPE, text=True)
        expect(run.returncode == 1 and f"TL-FILE-001: tlaloc: can't read {path}" in run.stderr, run.stderr)
    run = subprocess.run([sys.argv[1]], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    expect(run.returncode != 0, "without a subcommand")

    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
