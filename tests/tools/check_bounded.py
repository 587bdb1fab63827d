#!/usr/bin/env python3
"""Functions of JAX with an open size as bounded programs: `tlaloc export-bounded`, then `tlaloc run` of the folder at many
sizes and on several back ends gives what JAX gives for the arrays themselves.

usage: check_bounded.py COMMAND PLUGINS    PLUGINS: where PJRT plugins are, or a path that is not there
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

# JAX compiles each function for each size, and runs it once. PLUGINS run as they are for users.
USERS = dict(os.environ)
os.environ["XLA_FLAGS"] = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"

import jax
import jax.numpy as jnp
import numpy as np
from jax import export

COMMAND = os.path.abspath(sys.argv[1])
PLUGINS = sys.argv[2]
MOST = 40
W = (np.arange(12, dtype=np.float32).reshape(3, 4) - 5) / 7
failures = []


def attention(x, w):
    q = x @ w
    scores = q @ (q * 2).T / 2
    causal = jnp.arange(x.shape[0])[:, None] >= jnp.arange(x.shape[0])[None]
    return jax.nn.softmax(jnp.where(causal, scores, -1e9), axis=-1) @ (q + 1)


def convolved(x, w):
    """w's rows as three taps each, one a feature, along x's open axis."""
    taps = jnp.reshape(w, (4, 3, 1))
    return jax.lax.conv_general_dilated((x + 1).T[None], jnp.tile(taps, (1, 1, 3)), (1,), [(1, 1)])[0].T


# name: (function of x: f32[n, 3] and w: f32[3, 4])
FUNCTIONS = {
    "attention": attention,
    "attention_gradient": lambda x, w: jax.grad(lambda v: jnp.mean(attention(x, v) ** 2))(w),
    "mean_and_variance": lambda x, w: (jnp.mean(x, axis=0), jnp.var(x, ddof=1), jnp.mean(x @ w), jnp.max(x @ w)),
    "order": lambda x, w: (jnp.sort(x, axis=0), jnp.argsort(x[:, 0]), jnp.argmax(x @ w, axis=0)),
    "sums": lambda x, w: (jnp.cumsum(x, axis=0), jax.nn.logsumexp(x @ w, axis=0), jnp.prod(x + 1)),
    "scan": lambda x, w: jax.lax.scan(lambda c, row: (c * 0.5 + row, c), jnp.zeros(3), x),
    "buckets": lambda x, w: jnp.zeros((4, 3)).at[jnp.arange(x.shape[0]) % 4].add(x),
    "heads": lambda x, w: jnp.einsum("nhk,mhk->hn", *(jnp.reshape(x @ w, (-1, 2, 2)),) * 2),
    "convolution": convolved,
    "convolution_gradient": lambda x, w: jax.grad(lambda v: jnp.mean(convolved(x, v) ** 2))(w),
    "noise": lambda x, w: x + jax.random.normal(jax.random.key(1), x.shape),
}
# What padding would change, or what can't tell: who refuses, and the function.
REFUSED = {
    "reverse": ("reverse", lambda x, w: x[::-1]),
    "flat": ("vmap", lambda x, w: jnp.sum(jnp.sin(jnp.reshape(x, (-1,))))),
    "columns": ("reshape", lambda x, w: jnp.sum(jnp.reshape(x, (3, -1)) ** 2, axis=1)),
    "rows": ("reshape", lambda x, w: jnp.sum(jnp.reshape(x.T, (-1, 3)) * w[:, 0], axis=0)),
    "shorter": ("main", lambda x, w: x[1:] - x[:-1]),
}


def expect(condition, what):
    if not condition:
        failures.append(what)


def tlaloc(folder, *arguments, plugins=False):
    environment = dict(USERS, TLALOC_PJRT_PLUGIN=PLUGINS) if plugins else USERS
    run = subprocess.run([COMMAND, *map(str, arguments)], capture_output=True, text=True, cwd=folder, env=environment)
    return run.returncode, run.stdout, run.stderr


def write_module(folder, name, f):
    n, = export.symbolic_shape("n", constraints=["n >= 2"])
    x = jax.ShapeDtypeStruct((n, 3), jnp.float32)
    module = export.export(jax.jit(f))(x, jax.ShapeDtypeStruct(W.shape, jnp.float32)).mlir_module()
    (folder / f"{name}.mlir").write_text(module)
    return f"{name}.mlir"


def check_function(folder, name, f, backends, turn):
    code, out, err = tlaloc(folder, "export-bounded", write_module(folder, name, f), "--bound", f"d0=2:{MOST}", "-o", name)
    expect(code == 0 and "3 bodies, padding changes nothing" in out, f"{name}: {out}{err}")
    if code:
        return
    manifest = json.loads((folder / name / "tlaloc-bounded.json").read_text())
    expect(manifest["bounds"] == [{"name": "d0", "least": 2, "most": MOST, "buckets": [16, 32, MOST]}], f"{name}: {manifest}")
    for body in manifest["bodies"]:
        content = (folder / name / body["file"]).read_bytes()
        expect(hashlib.sha256(content).hexdigest() == body["sha256"], f"{name}: the hash of {body['file']}")
    np.save(folder / "w.npy", W)
    for k, size in enumerate(((2, 17, MOST), (16, 33), (3, 29), (32, MOST - 1))[turn % 4]):
        x = np.random.default_rng(size).standard_normal((size, 3)).astype(np.float32)
        np.save(folder / "x.npy", x)
        wanted = [np.asarray(y) for y in jax.tree.leaves(jax.jit(f)(x, W))]
        outputs = []
        for i, y in enumerate(wanted):
            np.save(folder / f"want{i}.npy", y)
            outputs += ["--expect", f"want{i}.npy"]
        backend = backends[(k + turn + turn // 4) % len(backends)]
        code, out, err = tlaloc(folder, "run", name, "--backend", backend, "--input", "x.npy", "--input", "w.npy", *outputs,
                                "--tolerance", "1e-4", plugins=True)
        expect(code == 0, f"{name} of {size} on {backend}: {out}{err}")


def check_inspect(folder):
    """Of a folder that is there: its manifest in short, and as it is."""
    code, out, err = tlaloc(folder, "inspect", "attention")
    expect(code == 0, f"inspect: {err}")
    for line in ("bounded       main", f"  size        d0: 2 to {MOST}, by 16, 32, {MOST}", "  parameter   arg0: f32[d0, 3]  padded with 0",
                 f"    {MOST}        ", "  compared    at "):
        expect(line in out, f"inspect lacks '{line}': {out}")
    code, out, err = tlaloc(folder, "inspect", "--json", "attention")
    expect(code == 0 and json.loads(out) == json.loads((folder / "attention" / "tlaloc-bounded.json").read_text()), f"inspect --json: {out}{err}")


def check_donation(folder):
    """A step that updates w: the manifest and the bodies say whose memory the result takes, and plugins run them."""
    step = lambda x, w: (jnp.mean(x @ w), w - 0.1 * jax.grad(lambda v: jnp.mean((x @ v) ** 2))(w))
    code, out, err = tlaloc(folder, "export-bounded", write_module(folder, "step", step), "--bound", f"d0=2:{MOST}", "--donate", "arg1", "-o", "step")
    expect(code == 0, f"--donate: {out}{err}")
    manifest = json.loads((folder / "step" / "tlaloc-bounded.json").read_text())
    expect([i.get("result") for i in manifest["inputs"] if i["role"] == "data"] == [None, 1], f"--donate: {manifest['inputs']}")
    for body in manifest["bodies"]:
        text = (folder / "step" / body["file"]).read_text()
        expect(text.count("tf.aliasing_output = 1 : i32") == 1, f"--donate: {body['file']}: {text[:300]}")
    code, out, err = tlaloc(folder, "inspect", "step")
    expect("arg1: f32[3, 4]  padded with 0, its memory for result 1" in out, f"--donate: {out}{err}")
    x = np.random.default_rng(5).standard_normal((9, 3)).astype(np.float32)
    np.save(folder / "x.npy", x)
    for i, y in enumerate(step(x, W)):
        np.save(folder / f"want{i}.npy", np.asarray(y))
    for backend in ["interp", "cpu"] + ["pjrt:xla_cpu_pjrt", "pjrt:lammps_jax_pjrt_cpu"] * pathlib.Path(PLUGINS).exists():
        code, out, err = tlaloc(folder, "run", "step", "--backend", backend, "--input", "x.npy", "--input", "w.npy", "--expect", "want0.npy",
                                "--expect", "want1.npy", "--tolerance", "1e-5", plugins=True)
        expect(code == 0, f"--donate on {backend}: {out}{err}")
    for argument, message in (("q", "there is no parameter 'q'"), ("arg0", "parameter 0 is donated, and no result of type")):
        code, out, err = tlaloc(folder, "export-bounded", "step.mlir", "--bound", f"d0=2:{MOST}", "--donate", argument, "-o", "out")
        expect(code == 1 and message in err, f"--donate {argument}: {out}{err}")


def check_errors(folder):
    for name, (who, f) in REFUSED.items():
        code, out, err = tlaloc(folder, "export-bounded", write_module(folder, name, f), "--bound", f"d0=2:{MOST}", "-o", name)
        expect(code == 1 and f"TL-BOUNDED-001: {who}: " in err and not (folder / name).exists(), f"{name} is refused: {out}{err}")
    name = "attention"
    for arguments, message in (
        (("run", name, "--rest", "random", "--dim", "d0=41"), "TL-BOUND-001: main: d0 is 41"),
        (("run", name, "--input", "[[1, 2, 3]]", "--rest", "1"), "TL-BOUND-001: main: d0 is 1"),
        (("run", name, "--rest", "random", "--dim", "d0=3", "--function", "f"), "TL-HLO-003"),
        (("run", "nothing-here"), "TL-FILE-001"),
        (("run", "x" * 300), "File name too long; check the path and its permissions"),
        (("run", name, "--output", "a.npy", "--output", "b.npy"), "TL-ARITY-001: tlaloc: 2 times --output for 1 results"),
        (("run", "attention.mlir", "--expect", "1", "--expect", "1"), "TL-ARITY-001: tlaloc: 2 times --expect for 1 results"),
        (("export-bounded", "attention.mlir", "--bound", "d0=2:8", "--padding", "0=nan", "-o", "out"), "can't be padded with nan"),
        (("export-bounded", "attention.mlir", "--bound", "d0=8", "--tolerance", "inf", "-o", "out"), "the tolerance is inf"),
        (("export-bounded", "attention.mlir", "--bound", "d0=9223372036854775807", "-o", "out"), "d0 has sizes from 1 to 9223372036854775807"),
        (("export-bounded", "attention.mlir", "--bound", "d0=-4:-2", "-o", "out"), "d0 has sizes from -4 to -2"),
        (("export-bounded", "attention.mlir", "--bound", "m=4", "-o", "out"), "TL-SHAPE-004: tlaloc: there is no size 'm'"),
        (("export-bounded", "attention.mlir", "--bound", "d0", "-o", "out"), "TL-INPUT-001: tlaloc: --bound 'd0' names nothing"),
        (("export-bounded", "attention.mlir", "--bound", "d0=x", "-o", "out"), "TL-INPUT-001: tlaloc: --bound: 'x' is no number"),
        (("export-bounded", "attention.mlir", "--bound", "d0=8", "--buckets", "d0=8,4", "-o", "out"), "TL-BOUNDED-001"),
        (("export-bounded", "attention.mlir", "--bound", "d0=8", "--valid-mask", "arg1=d0", "-o", "out"), "no valid mask of d0"),
    ):
        code, out, err = tlaloc(folder, *arguments)
        expect(code == 1 and message in err, f"{arguments} says {message!r}: {out}{err}")
    expect(not (folder / "out").exists(), "what is refused is not written")
    code, out, err = tlaloc(folder, "export-bounded", "attention.mlir", "--bound", "d0=2:8", "--padding", "0=-inf", "-o", "infinite")
    expect(code == 0 and '"padding": "-inf"' in (folder / "infinite" / "tlaloc-bounded.json").read_text(), f"-inf: {out}{err}")
    code, out, err = tlaloc(folder, "run", "infinite", "--rest", "random", "--dim", "d0=3")
    expect(code == 0 and "nan" not in out, f"padding of -inf: {out}{err}")
    code, out, err = tlaloc(folder, "run", name, "--rest", "random", "--dim", "d0=3", "--benchmark", "0.01")
    expect(code == 0 and "of " in out, f"--benchmark: {out}{err}")
    body = folder / name / "body_16.mlir"
    body.write_text(body.read_text() + " ")
    code, out, err = tlaloc(folder, "run", name, "--rest", "random", "--dim", "d0=3")
    expect(code == 1 and "TL-BOUNDED-003: bounded: body_16.mlir is not the file" in err, f"a changed body: {out}{err}")
    manifest = folder / name / "tlaloc-bounded.json"
    manifest.write_text(manifest.read_text().replace("body_16.mlir", "../attention.mlir"))
    code, out, err = tlaloc(folder, "run", name, "--rest", "random", "--dim", "d0=3")
    expect(code == 1 and "TL-BOUNDED-002: bounded: attention/tlaloc-bounded.json: bodies[0].file" in err, f"a path: {out}{err}")


def main():
    backends = ["interp", "cpu"]
    if pathlib.Path(PLUGINS).exists():
        backends += ["pjrt:xla_cpu_pjrt", "pjrt:lammps_jax_pjrt_cpu"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for turn, (function, f) in enumerate(FUNCTIONS.items()):
            check_function(folder, function, f, backends, turn)
        check_inspect(folder)
        check_donation(folder)
        check_errors(folder)
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
