#!/usr/bin/env python3
"""Runs `tlaloc run`, `grad`, `inspect` and `doctor` on small programs and looks at what they say.

usage: check_run.py COMMAND PLUGINS    PLUGINS: where PJRT plugins are, or a path that is not there
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

PYTHON = sys.executable
COMMAND = os.path.abspath(sys.argv[1])
GRAPH = """graph @layer {n} (%x: f32[n, 4], %w: f32[4, 3]) -> (f32[n, 3], f32[]) {
  %2 = dot_general(%x, %w) {lhs_batch=[], rhs_batch=[], lhs_contract=[1], rhs_contract=[0]} : f32[n, 3]
  %3 = tanh(%2) : f32[n, 3]
  %4 = reduce_sum(%3) {axes=[0, 1]} : f32[]
  return %3, %4
}
"""
LOSS = """module @m {
  func.func public @main(%x: tensor<3xf32>, %n: tensor<2xi32>) -> (tensor<f32>, tensor<2xi32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.multiply %x, %x : tensor<3xf32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    return %1, %n : tensor<f32>, tensor<2xi32>
  }
  func.func public @twice(%x: tensor<2xbf16>) -> tensor<2xbf16> {
    %0 = stablehlo.add %x, %x : tensor<2xbf16>
    return %0 : tensor<2xbf16>
  }
}
"""
CHECKS = """func.func @right() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  check.expect_eq_const %1, dense<[2.0, 4.0]> : tensor<2xf32>
  func.return
}
// -----
func.func @wrong() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.0, 2.00001]> : tensor<2xf32>
  check.expect_almost_eq %0, %1 : tensor<2xf32>
  check.expect_eq %0, %1 : tensor<2xf32>
  func.return
}
"""
# Functions that do not come in, between some that do: by a type, an operation, a call of one of them.
PARTLY = """module @m {
  func.func @complex(%x: tensor<2xcomplex<f32>>) {
    func.return
  }
  func.func @right() {
    %0 = stablehlo.constant dense<1.0> : tensor<f32>
    check.expect_eq_const %0, dense<1.0> : tensor<f32>
    func.return
  }
  func.func private @unknown() -> tensor<f32> {
    %0 = stablehlo.custom_call @unheard_of() : () -> tensor<f32>
    func.return %0 : tensor<f32>
  }
  func.func @calls() {
    %0 = func.call @unknown() : () -> tensor<f32>
    check.expect_eq %0, %0 : tensor<f32>
    func.return
  }
}
// -----
no module
// -----
func.func @last() {
  %0 = stablehlo.constant dense<1> : tensor<i32>
  check.expect_eq_const %0, dense<1> : tensor<i32>
  func.return
}
"""
# (kind, attributes, got, expected, whether it holds)
KINDS = [("eq", "", "[1.0, 0x7FC00000]", "[1.0, 0xFFC00001]", True), ("eq", "", "[1.0, 0.0]", "[1.0, -0.0]", False),
         ("eq", "", "[1.0, 0x7FC00000]", "[1.0, 1.0]", False),
         ("almost_eq", "", "[1.0, 2.0]", "[1.0, 2.00009]", True), ("almost_eq", "", "[1.0, 2.0]", "[1.0, 2.0002]", False),
         ("almost_eq", "{tolerance = 1.0e-3 : f64}", "[1.0, 2.0]", "[1.0, 2.0002]", True),
         ("almost_eq", "", "[0x7F800000, 1.0]", "[0x7F800000, 1.0]", True), ("almost_eq", "", "[0x7F800000, 1.0]", "[3.0e38, 1.0]", False),
         ("close", "", "[1.0, -0.0]", "[0x3F800003, 0.0]", True), ("close", "", "[1.0, 0.0]", "[0x3F800004, 0.0]", False),
         ("close", "", "[0x80000001, 0.0]", "[0x00000002, 0.0]", True), ("close", "", "[0x80000002, 0.0]", "[0x00000002, 0.0]", False),
         ("close", "{max_ulp_difference = 4 : i64, min_ulp_difference = 4 : i64}", "[1.0, 1.0]", "[0x3F800004, 0x3F800004]", True),
         ("close", "{max_ulp_difference = 4 : i64, min_ulp_difference = 4 : i64}", "[1.0, 1.0]", "[0x3F800003, 0x3F800004]", False)]
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


class Command:
    """The command in a folder of files."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def __call__(self, *arguments, stdin="", **environment):
        run = subprocess.run([COMMAND, *map(str, arguments)], input=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, cwd=self.folder, env={**os.environ, "TLALOC_PYTHON": PYTHON, **environment})
        return run.returncode, run.stdout, run.stderr

    def fails(self, message, *arguments, **options):
        code, out, err = self(*arguments, **options)
        expect(code == 1 and message in err, f"{arguments}: wanted {message!r}: {code} {out} {err}")


def check_inputs(tlaloc, module):
    x, w = np.arange(8, dtype="float32").reshape(2, 4) / 8, np.full((4, 3), 0.25, "float32")
    np.save(tlaloc.folder / "x.npy", x)
    np.save(tlaloc.folder / "wanted.npy", np.tanh(x @ w))
    for backend in ("interp", "cpu"):
        code, out, err = tlaloc("run", module, "--input", "x.npy", "--input", "0.25", "--backend", backend, "--output", "y.npy")
        expect(code == 0 and "result 1: f32[]" in out and "result 0" not in out, f"{backend}: {out}{err}")
        expect(np.allclose(np.load(tlaloc.folder / "y.npy"), np.tanh(x @ w), rtol=1e-6), f"{backend}: the results in the file")
    rows = "[" + ", ".join(str([float(v) for v in row]) for row in x) + "]"
    code, out, err = tlaloc("run", module, "--input", f"x={rows}", "--rest", "0.25", "--expect", "wanted.npy", "--tolerance", "1e-6")
    expect(code == 0 and out == "result 0: as expected\n", f"a literal: {out}{err}")
    code, out, err = tlaloc("run", module, "--input", "x.npy", "--input", "0.26", "--expect", "wanted.npy", "--tolerance", "1e-6")
    expect(code == 1 and "of 6 elements of f32[2, 3] differ by more than 1e-06" in out, f"a wrong result: {out}{err}")
    code, out, err = tlaloc("run", module, "--input", "x.npy", "--input", "nan", "--expect", "nan")
    expect(code == 0, f"NaN is NaN: {out}{err}")

    first = tlaloc("run", module, "--rest", "random", "--dim", "n=3")
    expect(first[0] == 0 and first == tlaloc("run", module, "--rest", "random", "--dim", "n=3"), "random is repeatable")
    expect(first[1] != tlaloc("run", module, "--rest", "random", "--dim", "n=3", "--seed", "1")[1], "the seed counts")
    code, out, err = tlaloc("run", "-", "--input", "random:5:6", "--output", "r.npy", stdin="""graph @f {} (%x: i32[9]) -> (i32[9]) {
  return %x
}
""")
    expect(code == 0 and (np.load(tlaloc.folder / "r.npy") == 5).all(), f"integers from a range: {out}{err}")
    code, out, err = tlaloc("run", "-", "--input", "random:5:7", "--input", "random", "--output", "u.npy", "--output", "n.npy",
                            stdin="""graph @f {} (%x: f64[5000], %y: f64[5000]) -> (f64[5000], f64[5000]) {
  return %x, %y
}
""")
    u, n = np.load(tlaloc.folder / "u.npy"), np.load(tlaloc.folder / "n.npy")
    expect(code == 0 and 5 <= u.min() < 5.1 and 6.9 < u.max() < 7 and abs(u.mean() - 6) < 0.1, f"uniform numbers: {u.min()} {u.max()}")
    expect(abs(n.mean()) < 0.1 and abs(n.std() - 1) < 0.1 and 3 < abs(n).max() < 6, f"normal numbers: {n.mean()} {n.std()}")
    code, out, err = tlaloc("run", module, "--input", "x.npy", "--rest", "random", "--benchmark", "0.01")
    expect(code == 0 and "median" in out and "compile" in out, f"--benchmark: {out}{err}")

    for arguments, message in [
        ((), "TL-ARITY-001: tlaloc: there is no input for the parameter x: f32[n, 4]"),
        (("--input", "1", "--input", "2", "--input", "3"), "TL-ARITY-001: tlaloc: 3 inputs for 2 parameters"),
        (("--rest", "random"), "TL-SHAPE-004: tlaloc: nothing gives the size n"),
        (("--input", "v=3"), "TL-INPUT-001: tlaloc: there is no parameter 'v'; the function takes x w"),
        (("--input", "x=1", "--input", "x=2"), "TL-INPUT-001: tlaloc: the parameter x has two inputs"),
        (("--rest", "1", "--input", "[[1, 2], [3]]"), "TL-INPUT-001: tlaloc: rows have 2 and 1 elements"),
        (("--rest", "1", "--input", "[1, [2]]"), "TL-INPUT-001: tlaloc: a list stands beside numbers"),
        (("--rest", "1", "--input", "[[1], 2]"), "TL-INPUT-001: tlaloc: a number stands beside lists"),
        (("--rest", "1", "--input", "[1, 2"), "TL-INPUT-001: tlaloc: ',' or ']' is missing"),
        (("--rest", "1", "--input", "1e99"), "TL-INPUT-001: tlaloc: '1e99' is too large or too small for f32"),
        (("--rest", "1", "--input", "one"), "TL-INPUT-001: tlaloc: 'one' is no f32"),
        (("--rest", "1", "--input", "[" * 99), "TL-INPUT-001: tlaloc: lists nest too deep"),
        (("--rest", "1", "--input", "random:1:1", "--dim", "n=1"), "TL-INPUT-001: tlaloc: 'random:1:1' is no range"),
        (("--input", "x.npy", "--input", "[1, 2]"), "TL-SHAPE-002"),
        (("--input", "gone.npy", "--rest", "1"), "TL-FILE-001"),
        (("--input", "x.npy", "--rest", "1", "--expect", "[1, 2]"), "TL-SHAPE-002: tlaloc: [1, 2] is f32[2]"),
        (("--input", "x.npy", "--rest", "1", "--expect", "random"), "TL-INPUT-001: tlaloc: 'random' is no result to expect: what a function "
         "gives is not random; give file.npy or a literal; --output FILE.npy of a run on interp writes one"),
        (("--input", "x.npy", "--rest", "1", "--expect", "1", "--expect", "1", "--expect", "1"), "TL-ARITY-001: tlaloc: 3 times --expect"),
        (("--backend", "gpu", "--input", "x.npy", "--rest", "1"), "TL-BACKEND-002: tlaloc: there is no back end 'gpu'"),
        (("--function", "f", "--rest", "1"), "TL-HLO-003"),
    ]:
        tlaloc.fails(message, "run", module, *arguments)
    tlaloc.fails("TL-INPUT-001: tlaloc: '300' is too large or too small for u8", "run", "-", "--input", "300",
                 stdin="graph @f {} (%x: u8[]) -> (u8[]) {\n  return %x\n}\n")
    for text, least in (("random:0:1", "0 0"), ("random:1:2", "1 1"), ("random:0:2", "0 1"), ("random", "0 1")):
        tlaloc("run", "-", "--input", text, "--output", "b.npy", stdin="graph @f {} (%x: bool[64]) -> (bool[64]) {\n  return %x\n}\n")
        bools = np.load(tlaloc.folder / "b.npy").astype(int)
        expect(f"{bools.min()} {bools.max()}" == least, f"{text} of bools: {bools}")
    tlaloc.fails("TL-INPUT-001: tlaloc: the range has no uniform numbers of the type bool", "run", "-", "--input", "random:0:3",
                 stdin="graph @f {} (%x: bool[64]) -> (bool[64]) {\n  return %x\n}\n")
    tlaloc.fails("TL-INPUT-001: tlaloc: the range has no uniform numbers of the type u8", "run", "-", "--input", "random:0:300",
                 stdin="graph @f {} (%x: u8[]) -> (u8[]) {\n  return %x\n}\n")


def check_stablehlo(tlaloc):
    loss = tlaloc.file("loss.mlir", LOSS)
    code, out, err = tlaloc("run", loss, "--input", "[1, 2, 3]", "--input", "[4, 5]")
    expect(code == 0 and "result 0: f32[]\n14." in out and "result 1: i32[2]\n[4, 5]" in out, f"main: {out}{err}")
    code, out, err = tlaloc("run", loss, "--function", "twice", "--input", "[1.5, -inf]")
    expect(code == 0 and "bf16[2]\n[  3., -inf]" in out, f"another function: {out}{err}")
    tlaloc.fails("TL-HLO-003", "run", loss, "--function", "thrice")
    tlaloc.fails("TL-HLO-001", "run", "-", stdin="module {")
    tlaloc.fails("TL-FILE-001", "run", "gone.mlir")

    code, out, err = tlaloc("grad", loss, "--output", "grad.mlir", "--value")
    expect(code == 0, f"grad: {err}")
    code, out, err = tlaloc("run", "grad.mlir", "--input", "[1, 2, 3]", "--input", "[4, 5]", "--expect", "14", "--expect", "[2, 4, 6]")
    expect(code == 0, f"the gradient runs: {out}{err}")
    code, out, err = tlaloc("grad", "-", "--dim", "n=2", "--result", "1", "--wrt", "w", stdin=GRAPH)
    expect(code == 0 and "-> (tensor<4x3xf32>)" in out, f"by one parameter: {out}{err}")
    tlaloc.fails("TL-GRAD-008: tlaloc: there is no parameter '7'", "grad", loss, "--wrt", "7")
    tlaloc.fails("TL-GRAD-008: tlaloc: the parameter 1 is i32[2], which has no derivative", "grad", loss, "--wrt", "0,1")
    tlaloc.fails("TL-GRAD-008: tlaloc: there is no result 2 among the 2", "grad", loss, "--result", "2")
    tlaloc.fails("TL-GRAD-001", "grad", loss, "--result", "1")
    tlaloc.fails("TL-SHAPE-004", "grad", "-", "--result", "1", stdin=GRAPH)
    pair = """graph @f {n, m} (%x: f32[n], %y: f32[m]) -> (f32[n]) {
  %2 = add(%x, %y) : f32[n]
  require n == m "the lengths"
  return %2
}
"""
    code, out, err = tlaloc("run", "-", "--input", "[1, 2]", "--input", "3", "--expect", "[4, 5]", stdin=pair)
    expect(code == 0, f"a size that must be equal to a known one: {out}{err}")
    code, out, err = tlaloc("run", "-", "--rest", "2", "--dim", "m=3", "--expect", "[4, 4, 4]", stdin=pair)
    expect(code == 0, f"a size that must be equal to a given one: {out}{err}")

    code, out, err = tlaloc("inspect", loss)
    for line in ("module        @m", "function      @main", "  parameter   x: f32[3]", "  result      0: f32[]", "  constants   0, 0 B",
                 "  ops         2: mul 1, reduce_sum 1", "function      @twice"):
        expect(line + "\n" in out, f"inspect lacks {line!r}: {out}{err}")
    code, out, err = tlaloc("inspect", loss, "--json")
    main = json.loads(out)["modules"][0]["functions"][0]
    expect(main["ops"] == {"mul": 1, "reduce_sum": 1} and main["cost"]["flops"] == 6, f"ops and cost: {main}")
    code, out, err = tlaloc("inspect", "-", stdin="graph @c {} () -> (f64[2]) {\n  %0 = constant() {value=f64[2] {1, 2}} : f64[2]\n  return %0\n}\n")
    expect("  constants   1, 16 B\n" in out, f"a constant: {out}{err}")
    code, out, err = tlaloc("inspect", "-", stdin=GRAPH)
    expect("size        n >= 0" in out and "depends on sizes" in out, f"inspect of a graph: {out}{err}")
    code, out, err = tlaloc("inspect", "-", "--dim", "n=2", stdin=GRAPH)
    expect("flops" in out, f"its cost: {out}{err}")


def check_checks(tlaloc):
    module = tlaloc.file("checks.mlir", CHECKS)
    for backend in ("interp", "cpu"):
        code, out, err = tlaloc("run", "--check", module, "--backend", backend)
        expect(code == 1 and f"pass {module}: right" in out and f"FAIL {module}: wrong" in out and ":12: 1 of 2 elements" in out and
               "2 functions, 1 failures" in out, f"--check on {backend}: {out}{err}")
    text = "".join(f"""func.func @f{k}() {{
  %0 = stablehlo.constant dense<{got}> : tensor<2xf32>
  %1 = stablehlo.constant dense<{wanted}> : tensor<2xf32>
  stablehlo.custom_call @check.expect_{kind}(%0, %1) {attributes} : (tensor<2xf32>, tensor<2xf32>) -> ()
  func.return
}}
""" for k, (kind, attributes, got, wanted, _) in enumerate(KINDS))
    code, out, err = tlaloc("run", "--check", tlaloc.file("kinds.mlir", text))
    for k, row in enumerate(KINDS):
        expect(f"{'pass' if row[-1] else 'FAIL'} {tlaloc.folder}/kinds.mlir: f{k}" in out, f"{row}: {out}{err}")
    partly = tlaloc.file("partly.mlir", PARTLY)
    code, out, err = tlaloc("run", "--check", partly)
    lines = out.splitlines()
    wanted = [f"FAIL {partly}: complex: {partly}:2:", f"pass {partly}: right", f"FAIL {partly}: unknown: {partly}:11:",
              f"FAIL {partly}: calls: {partly}:15:", f"FAIL {partly}: {partly}:21:", f"pass {partly}: last", "6 functions, 4 failures"]
    expect(code == 1 and len(lines) == len(wanted) and all(line.startswith(w) for line, w in zip(lines, wanted))
           and "it calls @unknown, which is refused" in out, f"functions that do not come in: {out}{err}")
    code, out, err = tlaloc("run", "--check", tlaloc.file("two.mlir", PARTLY.split("// -----")[0]), "--function", "right")
    expect(code == 0 and "1 functions, 0 failures" in out, f"one of them that does: {out}{err}")
    code, out, err = tlaloc("run", "--check", module, module, "--function", "right")
    expect(code == 0 and "2 functions, 0 failures" in out, f"one function of two files: {out}{err}")
    code, out, err = tlaloc("run", "--check", module, "--function", "other")
    expect(code == 1 and "no function 'other' checks anything" in out, f"a function that is not there: {out}{err}")
    code, out, err = tlaloc("run", "--check", tlaloc.file("bad.mlir", "module {"), module, "--function", "right")
    expect(code == 1 and "TL-HLO-001" in out and "pass" in out, f"a file that can't be read does not stop the others: {out}{err}")
    code, out, err = tlaloc("run", "--check", tlaloc.file("none.mlir", LOSS))
    expect(code == 1 and "no function checks anything" in out, f"nothing to check: {out}{err}")
    code, out, err = tlaloc("run", "--check", module, "--input", "1")
    expect(code != 0 and "excludes --input" in err, f"an argument for tests: {out}{err}")
    code, out, err = tlaloc("run", module, module)
    expect(code != 0 and "several need --check" in err, f"two modules: {out}{err}")
    tlaloc.fails("TL-HLO-003: tlaloc: " + module + " holds 2 modules", "run", module)


def check_bytecode(tlaloc):
    import jax  # noqa: PLC0415: it takes a second
    import jax.numpy as jnp
    from jax import export
    code = export.export(jax.jit(lambda x: jnp.tanh(x).sum()))(jax.ShapeDtypeStruct((3, ), "float32")).mlir_module_serialized
    module = tlaloc.file("f.bin", code)
    code, out, err = tlaloc("run", module, "--input", "0.5", "--expect", repr(float(3 * np.tanh(np.float32(0.5)))), "--tolerance", "1e-6")
    expect(code == 0, f"bytecode: {out}{err}")
    tlaloc.fails("TL-HLO-005", "run", tlaloc.file("cut.bin", pathlib.Path(module).read_bytes()[:90]))
    tlaloc.fails("TL-HLO-004: tlaloc: bytecode is read by Python, and /gone/python3: No such file", "run", module,
                 TLALOC_PYTHON="/gone/python3")
    code, out, err = tlaloc("run", module, TLALOC_PYTHON="/bin/false")
    expect(code == 1 and "TL-HLO-004" in err, f"a Python that fails: {err}")
    # A module may lie in a folder with anything beside it, of which nothing runs.
    for package in ("jax", "jaxlib"):
        (tlaloc.folder / package).mkdir()
        tlaloc.file(f"{package}/__init__.py", f"open({str(tlaloc.folder / 'planted')!r}, 'w')")
    for search in ("", str(tlaloc.folder)):
        code, out, err = tlaloc("inspect", module, PYTHONPATH=search)
        expect(code == 0 and not (tlaloc.folder / "planted").exists(), f"a package beside the module, PYTHONPATH={search!r}: {out}{err}")


def check_doctor(tlaloc, plugins):
    code, out, err = tlaloc("doctor", "--json", TLALOC_PJRT_PLUGIN=plugins)
    expect(code == 0, f"doctor: {err}")
    report = json.loads(out)
    expect(report["cpu"]["threads"] >= 1 and report["codegen"]["code"], f"doctor: {out}")
    expect(all(report["backends"][name] for name in ("interp", "cpu")), f"what the own back ends lack: {out}")
    if os.path.isdir(plugins):
        found = {p["name"]: p for p in report["pjrt"]["plugins"]}
        expect({"xla_cpu_pjrt", "lammps_jax_pjrt_cpu"} <= set(found), f"plugins: {list(found)}")
        expect("it does not count operations" in found["lammps_jax_pjrt_cpu"]["lacks"], f"lacks: {found}")
        expect(found["xla_cpu_pjrt"]["version"] == "PJRT 0.81" and found["xla_cpu_pjrt"]["devices"], f"a plugin: {found}")
        expect(all(found[p]["uploads"] == "arrays are used where the host has them" for p in ("xla_cpu_pjrt", "lammps_jax_pjrt_cpu")),
               f"uploads: {found}")
        code, out, err = tlaloc("run", tlaloc.file("loss.mlir", LOSS), "--input", "[1, 2, 3]", "--input", "[4, 5]", "--backend",
                                "pjrt:xla_cpu_pjrt", "--expect", "14", "--benchmark", "0", TLALOC_PJRT_PLUGIN=plugins)
        expect(code == 0 and "as expected" in out and "of 5 runs" in out and "compiled for all sizes: " in out
               and "uploaded 20 B used where they lie, 0 B copied" in out, f"a run on a plugin: {out}{err}")
    subprocess.run(["g++", "-shared", "-fPIC", "-o", tlaloc.folder / "ending_pjrt.so", "-x", "c++", "-"], check=True, text=True,
                   input='#include <cstdlib>\nextern "C" void* GetPjrtApi() { std::abort(); }\n')
    code, out, err = tlaloc("doctor", TLALOC_PJRT_PLUGIN=str(tlaloc.folder / "ending_pjrt.so"))
    expect(code == 0 and "it ended the process: Aborted" in out, f"a plugin that ends its process: {out}{err}")
    broken = tlaloc.file("broken_pjrt.so", b"no library")
    code, out, err = tlaloc("doctor", TLALOC_PJRT_PLUGIN=broken)
    expect(code == 0 and "TL-PJRT-002" in out and "iree" in out, f"a plugin that does not load: {out}{err}")
    for line in (f"looked in     {broken}", "interp lacks  it does not tell how it runs a program (tlaloc explain)",
                 "cpu lacks     it does not stop at the first NaN; interp does"):
        expect(line + "\n" in out, f"doctor lacks {line!r}: {out}{err}")
    tlaloc.fails("TL-PJRT-001", "run", "-", "--backend", "pjrt:gone", stdin="graph @f {} () -> () {\n  return\n}\n")


def main():
    with tempfile.TemporaryDirectory() as folder:
        tlaloc = Command(folder)
        check_inputs(tlaloc, tlaloc.file("layer.txt", GRAPH))
        check_stablehlo(tlaloc)
        check_checks(tlaloc)
        check_bytecode(tlaloc)
        check_doctor(tlaloc, sys.argv[2])
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
