#!/usr/bin/env python3
"""Compiles a module with `tlaloc compile`, links the object with a program in C, and looks at its numbers.

usage: check_compile.py COMMAND
"""

import ctypes
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
CHECKED = """func.func @twice(%x: tensor<f32>) -> tensor<f32> {
  %y = stablehlo.add %x, %x : tensor<f32>
  check.expect_eq_const %y, dense<2.0> : tensor<f32>
  return %y : tensor<f32>
}
"""
MAIN = """#include "layer.h"
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  const float x[] = {1, 2, 3, 4}, w[] = {0.1f, 0.2f, 0.3f, -0.1f, -0.2f, -0.3f};
  float y[6];
  const int64_t bytes = layer_scratch_bytes(2);
  void* scratch = malloc((size_t)bytes);
  if (layer(2, x, w, y, scratch, bytes) != layer_status_ok) return 1;
  if (layer(2, x, w, y, scratch, 0) != layer_status_scratch_too_small) return 2;
  for (int i = 0; i < 6; ++i) printf("%.9g\\n", y[i]);
  free(scratch);
  return 0;
}
"""


def shared_library_fault(command, folder):
    """What is wrong with a shared library and where none can be made; None if nothing is."""
    subprocess.run([command, "compile", "layer.txt", "-o", "layer.so", "--header", "layer.h"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "layer.so"))
    library.layer_scratch_bytes.restype = ctypes.c_int64
    bytes = library.layer_scratch_bytes(ctypes.c_int64(1))
    x, w, y = (ctypes.c_float * 2)(1, 2), (ctypes.c_float * 6)(0.1, 0.2, 0.3, -0.1, -0.2, -0.3), (ctypes.c_float * 3)()
    status = library.layer(ctypes.c_int64(1), x, w, y, ctypes.create_string_buffer(bytes + 1), ctypes.c_int64(bytes))
    if status != 0 or any(abs(got - math.tanh(-k / 10)) > 1e-6 for k, got in enumerate(y, 1)):
        return f"a shared library: {status} {list(y)}"
    run = subprocess.run([command, "compile", "layer.txt", "-o", "none.so", "--header", "none.h"], cwd=folder,
                         env=os.environ | {"PATH": str(folder / "nowhere")}, stderr=subprocess.PIPE, text=True)
    if run.returncode != 1 or "TL-AOT-003: tlaloc: no shared library was made: cc " not in run.stderr:
        return f"without a compiler: {run.returncode} {run.stderr}"
    if (folder / "none.so").exists() or (folder / "none.h").exists():
        return "a header without its library is left behind"
    return None


def main():
    command = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "layer.txt").write_text(MODULE)
        (folder / "main.c").write_text(MAIN)
        for cpu in "x86-64-v2", "native":
            subprocess.run([command, "compile", "layer.txt", "-o", "layer.o", "--header", "layer.h", "--cpu", cpu],
                           cwd=folder, check=True)
            for compiler, options in ("cc", ["-std=c99"]), ("c++", ["-x", "c++"]):
                subprocess.run([compiler, *options, "-Wall", "-Wextra", "-Werror", "-c", "main.c", "-o", "main.o"],
                               cwd=folder, check=True)
                subprocess.run(["cc", "main.o", "layer.o", "-lm", "-o", "main"], cwd=folder, check=True)
                run = subprocess.run(["./main"], cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
                got = [float(line) for line in run.stdout.split()]
                want = [math.tanh(x[0] * w + x[1] * -w) for x in ((1, 2), (3, 4)) for w in (0.1, 0.2, 0.3)]
                if len(got) != 6 or any(abs(a - b) > 1e-6 for a, b in zip(got, want)):
                    print(f"{cpu}, {compiler}: {got} where {want} is expected")
                    return 1
        fault = shared_library_fault(command, folder)
        if fault:
            print(fault)
            return 1
        run = subprocess.run([command, "compile", "layer.txt", "-o", "layer.o", "--cpu", "z80"], cwd=folder,
                             stderr=subprocess.PIPE, text=True)
        if run.returncode != 1 or "TL-AOT-002: compile_ahead: 'z80' is no CPU" not in run.stderr:
            print(f"an unknown CPU: {run.returncode} {run.stderr}")
            return 1
        run = subprocess.run([command, "compile", "layer.txt", "--for", "tpu-v0"], cwd=folder, stderr=subprocess.PIPE,
                             text=True)
        if run.returncode != 1 or "TL-PJRT-004: pjrt: there is no device called 'tpu-v0'" not in run.stderr:
            print(f"an unknown device: {run.returncode} {run.stderr}")
            return 1
        for options in (["--for", "tpu-v5e", "--header", "layer.h"], ["--dim", "n=3", "-o", "layer.o"]):
            run = subprocess.run([command, "compile", "layer.txt", *options], cwd=folder, stderr=subprocess.PIPE, text=True)
            if run.returncode == 0 or options[0] not in run.stderr:
                print(f"options that do not go together: {run}")
                return 1
        help = subprocess.run([command, "compile", "--help"], stdout=subprocess.PIPE, text=True).stdout
        if help.count("not with --for") != 3 or "with --for, where the" not in help:
            print(f"what goes with --for is not said: {help}")
            return 1
        run = subprocess.run([command, "compile", "layer.txt"], cwd=folder, stderr=subprocess.PIPE, text=True)
        if run.returncode == 0 or "--object" not in run.stderr:
            print(f"no object: {run.returncode} {run.stderr}")
            return 1
        run = subprocess.run([command, "compile", "layer.txt", "-o", "no/layer.o"], cwd=folder,
                             stderr=subprocess.PIPE, text=True)
        if run.returncode != 1 or "TL-FILE-001: tlaloc: can't write no/layer.o" not in run.stderr:
            print(f"a folder that isn't there: {run.returncode} {run.stderr}")
            return 1
        run = subprocess.run([command, "compile", "layer.txt", "-o", "one", "--header", "./one"], cwd=folder,
                             stderr=subprocess.PIPE, text=True)
        if run.returncode != 1 or "TL-FILE-002: tlaloc: " not in run.stderr or (folder / "one").exists():
            print(f"one file for both: {run.returncode} {run.stderr}")
            return 1
        run = subprocess.run([command, "compile", "layer.txt", "-o", "alone.o", "--header", "no/layer.h"], cwd=folder,
                             stderr=subprocess.PIPE, text=True)
        if run.returncode != 1 or "can't write no/layer.h" not in run.stderr or (folder / "alone.o").exists():
            print(f"an object without its header: {run.returncode} {run.stderr}")
            return 1
        (folder / "checked.mlir").write_text(CHECKED)
        subprocess.run([command, "compile", "checked.mlir", "-o", "checked.o", "--header", "checked.h"], cwd=folder, check=True)
        header = (folder / "checked.h").read_text()
        if "result0" not in header or "result1" in header:
            print(f"what checks compare is a result: {header}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
