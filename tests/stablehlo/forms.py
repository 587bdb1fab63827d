#!/usr/bin/env python3
"""The ways in which a module can be written make one graph.

usage: forms.py HASHES EMIT EXPORTS FOLDER     HASHES, EMIT: see import_hashes.cc, emit_again.cc

Each module of the folder EXPORTS is read by jaxlib, and written into FOLDER in pretty form, in MLIR's generic form, and
as portable bytecode that tools/stablehlo_text.py makes text again. What is not imported (see refused.txt) is left out.

What is emitted of each is read by jaxlib as well, made bytecode and text, and imported: the graph that the emitted text
is, and for most modules that of the module itself; others have operations that are written as several.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys

os.environ["JAX_PLATFORMS"] = "cpu"


def text_tool():
    path = pathlib.Path(__file__).parents[2] / "tools" / "stablehlo_text.py"
    spec = importlib.util.spec_from_file_location("stablehlo_text", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FORMS = ("source", "pretty", "generic", "bytecode")


def by_bytecode(module, tool):
    from jaxlib.mlir.dialects import stablehlo
    return tool.text_of(stablehlo.serialize_portable_artifact(module, stablehlo.get_current_version(), allow_other_dialects=True))


def forms_of(text, tool):
    from jaxlib.mlir import ir
    module = ir.Module.parse(text)
    return text, str(module), module.operation.get_asm(print_generic_op_form=True), by_bytecode(module, tool)


def run(program, path):
    return subprocess.run([program, str(path)], capture_output=True, text=True, check=True).stdout


def write(path, texts):
    path.write_text("".join(f"// -----\n{text}\n" for text in texts))
    return path


def emitted_failures(hashes_of, emit, folder, tool, names, hashes):
    """By name: None where the module is not emitted, else whether it is the same graph again."""
    from jaxlib.mlir import ir
    texts = run(emit, folder / "source.mlir").split("// -----\n")[1:]
    texts = {name: text for name, text in zip(names, texts, strict=True) if "func.func" in text}
    direct = run(hashes_of, write(folder / "emitted.mlir", texts.values())).splitlines()
    through = [by_bytecode(ir.Module.parse(text), tool) for text in texts.values()]
    through = run(hashes_of, write(folder / "emitted_bytecode.mlir", through)).splitlines()
    failures = [f"{name}, emitted: {b} is not {a}" for name, a, b in zip(texts, direct, through, strict=True) if a != b]
    same = sum(hashes[name] == b for name, b in zip(texts, through))
    print(f"{len(texts)} emitted, {same} of them the same graph again")
    if same < len(texts) / 2:
        failures.append("most modules are other graphs once they were emitted")
    return failures


def main():
    program, emit, exports, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    import jax._src.interpreters.mlir as mlir
    paths, tool = sorted(exports.glob("*.mlir")), text_tool()
    with mlir.make_ir_context():
        modules = [forms_of(path.read_text(), tool) for path in paths]
    hashes = {}
    for form, texts in zip(FORMS, zip(*modules)):
        hashes[form] = run(program, write(folder / f"{form}.mlir", texts)).splitlines()
    imported = [i for i, line in enumerate(hashes["source"]) if "TL-HLO-002" not in line]
    failures = [f"{paths[i].stem}, {form}: {hashes[form][i]} is not {hashes['source'][i]}"
                for i in imported for form in FORMS if hashes[form][i] != hashes["source"][i]]
    names = [path.stem for path in paths]
    with mlir.make_ir_context():
        failures += emitted_failures(program, emit, folder, tool, names, dict(zip(names, hashes["source"])))
    print("\n".join(failures))
    if len({hashes["source"][i] for i in imported}) < len(paths) / 2:
        sys.exit("most programs have one hash, or none: this compares nothing")
    print(f"{len(imported)} of {len(paths)} modules in {len(FORMS)} forms, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
