#!/usr/bin/env python3
"""Compiles a module for a device that is not here with `tlaloc compile --for`, and looks at what it says.

usage: check_compile_for.py COMMAND PLUGINS    PLUGINS: the virtual environment that has them
"""

import os
import pathlib
import subprocess
import sys
import tempfile

MODULE = """graph @layer {n} (%x: f32[n, 256], %w: f32[256, 128]) -> (f32[n, 128]) {
  %2 = dot_general(%x, %w) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[n, 128]
  %3 = tanh(%2) : f32[n, 128]
  return %3
}
"""
# In their order; each has a value behind it. Plugins name costs of their own, of which some are printed.
WANTED = ["device", "compiled by", "code", "arguments", "results", "temporary", "flops", "program", "run"]
COSTS = ["transcendentals", "bytes accessed", "optimal_seconds"]


def columns(text):
    """Labels and values; what is not parted by a blank is a label without a value."""
    rows = []
    for line in text.splitlines():
        label = next((known for known in WANTED + COSTS if line.startswith(known)), line)
        rest = line[len(label):]
        rows.append((label, rest.strip() if rest.startswith(" ") else ""))
    return rows


def main():
    command, plugins = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    environment = os.environ | {"TLALOC_PJRT_PLUGIN": plugins}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "layer.txt").write_text(MODULE)

        def compile_for(*options):
            return subprocess.run([command, "compile", "layer.txt", "--for", "tpu-v5e", *options], cwd=folder, env=environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        run = compile_for("--dim", "n=64", "-o", "layer.bin")
        rows = columns(run.stdout)
        values = dict(rows)
        if run.returncode != 0 or any(not value for _, value in rows):
            print(f"a label without a value, or a failure: {run}")
            return 1
        if [label for label, _ in rows if label not in COSTS] != WANTED:
            print(f"not what it says: {run.stdout}")
            return 1
        # 64 x 256 and 256 x 128 numbers of four bytes in, 64 x 128 out; a product and a sum for each of 64 x 128 x 256.
        for label, value in (("device", "four chips of TPU v5e"), ("arguments", "196.6 kB"), ("results", "32.8 kB"),
                             ("program", "layer.bin"), ("run", "nothing was run: no such device was used")):
            if values[label] != value:
                print(f"{label}: {values[label]!r} where {value!r} is expected")
                return 1
        if not 1.99 * 64 * 256 * 128 <= float(values["flops"]) < 2.1 * 64 * 256 * 128:
            print(f"flops: {values['flops']}")
            return 1
        if (folder / "layer.bin").stat().st_size < 1000:
            print("the program is not in its file")
            return 1
        run = compile_for()
        if run.returncode != 1 or "TL-SHAPE-004: tlaloc: the size of n is not known" not in run.stderr:
            print(f"a size that is missing: {run}")
            return 1
        environment["TLALOC_PJRT_PLUGIN"] = "none"
        run = compile_for("--dim", "n=64")
        if run.returncode != 1 or "TL-PJRT-001" not in run.stderr or "./setup --pjrt, --aot" not in run.stderr:
            print(f"without the plugin: {run}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
