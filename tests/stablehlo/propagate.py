#!/usr/bin/env python3
"""What is emitted of programs over meshes is Shardy that jaxlib understands, and means what JAX wrote.

usage: propagate.py EMIT EXPORTS FOLDER    EMIT: see emit_again.cc

Each module of the folder EXPORTS is imported and emitted again. jaxlib parses and verifies that, and propagates the
shardings of both: those of arguments and results must agree. And what is emitted comes in as a program that is emitted
the same.
"""

import os
import pathlib
import subprocess
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func
from jaxlib.mlir.passmanager import PassManager


def signature(text):
    """The shardings of @main's arguments and results once they have been propagated."""
    module = ir.Module.parse(text)
    module.operation.verify()
    PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(module.operation)
    main = next(f for f in module.body.operations if isinstance(f, func.FuncOp) and f.name.value == "main")

    def of(name):
        lists = main.attributes[name] if name in main.attributes else []
        found = [str(d["sdy.sharding"]) if "sdy.sharding" in d else None for d in lists]
        return found if any(found) else []

    return of("arg_attrs"), of("res_attrs")


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main():
    emit, exports, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    paths = sorted(exports.glob("*.mlir"))
    sources = [p.read_text() for p in paths]
    (folder / "sources.mlir").write_text("".join(f"// -----\n{text}\n" for text in sources))
    again = output(emit, str(folder / "sources.mlir"))
    (folder / "again.mlir").write_text(again)
    emitted = again.split("// -----\n")[1:]
    # The first time operations may take another place: an argument's constraint comes first.
    (folder / "second.mlir").write_text(output(emit, str(folder / "again.mlir")))
    second, third = (text.split("// -----\n")[1:] for text in (
        (folder / "second.mlir").read_text(), output(emit, str(folder / "second.mlir"))))
    failures, compared, sharded = [], 0, 0
    with mlir.make_ir_context():
        for path, source, text, one, other in zip(paths, sources, emitted, second, third, strict=True):
            if "func.func" not in text:
                continue  # not imported, as exports.cc checks
            compared += 1
            wanted, got = signature(source), signature(text)
            sharded += any(s for side in wanted for s in side)
            if wanted != got and "stablehlo.if" not in text:  # Shardy propagates through JAX's case, not through if
                failures.append(f"{path.stem}: propagated to {got}, JAX's to {wanted}")
            if one != other and "stablehlo.while" not in text:  # loops count in ever more ways
                failures.append(f"{path.stem}: what is emitted comes in as something else")
    print("\n".join(failures))
    if compared < len(paths) / 2 or sharded < compared / 2:
        sys.exit("too few programs have shardings: this compares nothing")
    # What says something else is told from it.
    with mlir.make_ir_context():
        text = emitted[[p.stem for p in paths].index("mesh_arguments")]
        if signature(text) == signature(text.replace('[{"x"}, {}]', '[{"y"}, {}]')):
            failures.append("another sharding was not told apart")
    print(f"{compared} modules, {sharded} with shardings, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
