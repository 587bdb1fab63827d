#!/usr/bin/env python3
"""Exports a corpus of programs by JAX: each as a StableHLO module, with arguments, JAX's results and JAX's gradients.

usage: jax_exports.py FOLDER quick|slow|mesh

FOLDER/corpus.json is the list of programs. NAME.mlir is a module, every fourth in MLIR's generic form. NAME.0.npz has
the arguments (in0, ...), results (out0, ...), cotangents of the floating results (ct0, ...) and the cotangents of the
floating arguments that jax.vjp makes of them (grad0, ...); for a loss, whose cotangent is 1, those are jax.grad's.
"slow" exports the programs that JAX takes seconds to compile, "mesh" those over several devices.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
# Each operation rounds to its type, as the modules say.
os.environ["XLA_FLAGS"] = (os.environ.get("XLA_FLAGS", "") +
                           " --xla_allow_excess_precision=false --xla_force_host_platform_device_count=4")

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

jax.config.update("jax_enable_x64", True)

import programs
import arrays, control, meshes, models, ops  # noqa: E401, E402, F401: they fill the list

WORKERS = 2


def is_floating(a):
    return jnp.issubdtype(a.dtype, jnp.floating)


def flat_results(function):
    return lambda *args: tuple(jnp.asarray(r) for r in jax.tree.leaves(function(*args)))


def types(program):
    if not program.shapes:
        return [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in program.args[0]]
    scope, out = export.SymbolicScope(), []
    for a, text in zip(program.args[0], program.shapes):
        shape = export.symbolic_shape(text, scope=scope) if text else a.shape
        out.append(jax.ShapeDtypeStruct(shape, a.dtype))
    return out


def run(program, function, args):
    saved = {f"in{k}": a for k, a in enumerate(args)}
    types = jax.eval_shape(function, *args)
    floating = [k for k, a in enumerate(args) if is_floating(a)]
    out_floating = [k for k, t in enumerate(types) if is_floating(t)]
    if not (program.grad and floating and out_floating):
        return saved | {f"out{k}": np.asarray(r) for k, r in enumerate(jax.jit(function)(*args))}

    def of_floating(*values):
        full = list(args)
        for k, v in zip(floating, values):
            full[k] = v
        out = function(*full)
        return tuple(out[k] for k in out_floating), out

    def value_and_vjp(values, cts):
        _, vjp, out = jax.vjp(of_floating, *values, has_aux=True)
        return out, vjp(cts)

    cts = tuple(np.ones((), types[k].dtype) if types[k].ndim == 0 else programs.normal(
        f"{program.name}{k}", *types[k].shape).astype(types[k].dtype) for k in out_floating)
    results, grads = jax.jit(value_and_vjp)(tuple(args[k] for k in floating), cts)
    saved |= {f"out{k}": np.asarray(r) for k, r in enumerate(results)}
    saved |= {f"ct{k}": np.asarray(ct) for k, ct in zip(out_floating, cts)}
    return saved | {f"grad{k}": np.asarray(g) for k, g in zip(floating, grads)}


def export_program(program, folder, generic):
    program.args = [[np.asarray(a) for a in args] for args in program.args]
    function = flat_results(program.function)
    text = export.export(jax.jit(function, keep_unused=True, **program.jit))(*types(program)).mlir_module()
    if generic:
        with mlir.make_ir_context():
            text = ir.Module.parse(text).operation.get_asm(print_generic_op_form=True)
    (folder / f"{program.name}.mlir").write_text(text)
    for k, args in enumerate(program.args):
        np.savez(folder / f"{program.name}.{k}.npz", **run(program, function, args))


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[2] not in ("quick", "slow", "mesh"):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    chosen = [p for p in programs.ALL if ("mesh" if p.mesh else "slow" if p.slow else "quick") == sys.argv[2]]
    if len(sys.argv) == 4:  # one of the processes that share the work
        for index, program in enumerate(chosen):
            if index % WORKERS == int(sys.argv[3]):
                export_program(program, folder, generic=index % 8 >= 6)
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    workers = [subprocess.Popen([sys.executable, *sys.argv, str(k)]) for k in range(WORKERS)]
    if any([w.wait() for w in workers]):
        sys.exit("an export failed")
    (folder / "corpus.json").write_text(json.dumps([{
        "name": p.name, "runs": len(p.args), "scaled": p.scaled, "tolerance": p.tolerance} for p in chosen], indent=1))
    print(f"{len(chosen)} programs")


if __name__ == "__main__":
    main()
