#!/usr/bin/env python3
"""Turns StableHLO's portable bytecode into text that Tlaloc reads; the command `tlaloc` does it by itself.

usage: stablehlo_text.py INPUT OUTPUT     files, or - for standard input and output

INPUT is bytecode, or what jax.export serialized. Needs jaxlib, of the version that wrote the bytecode or later; and jax and
flatbuffers for what jax.export serialized. Exit status: 3 where one of them is missing, 4 where INPUT is no such thing.
"""

import sys

MISSING, NO_ARTIFACT = 3, 4


def fail(status, text):
    print(text, file=sys.stderr)
    sys.exit(status)


def bytecode_of(data):
    """The module inside of what jax.export serialized; bytecode as it is."""
    if data[:4] == b"ML\xefR":
        return data
    try:
        from jax import export
        return export.deserialize(bytearray(data)).mlir_module_serialized
    except ImportError as error:
        fail(MISSING, f"this is no bytecode; reading what jax.export serialized needs jax and flatbuffers ({error})")
    except Exception as error:  # whatever flatbuffers makes of other bytes
        fail(NO_ARTIFACT, f"this is neither bytecode nor what jax.export serialized ({error})")


def text_of(bytecode):
    try:
        from jaxlib.mlir import ir
        from jaxlib.mlir.dialects import chlo, sdy, stablehlo
    except ImportError as error:
        fail(MISSING, error)
    context = ir.Context()
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    with context:
        try:
            return stablehlo.deserialize_portable_artifact(context, bytecode).operation.get_asm()
        except Exception as error:
            fail(NO_ARTIFACT, error)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") if sys.argv[1] != "-" else sys.stdin.buffer as file:
        text = text_of(bytecode_of(file.read()))
    with open(sys.argv[2], "w") if sys.argv[2] != "-" else sys.stdout as file:
        file.write(text)


if __name__ == "__main__":
    main()
