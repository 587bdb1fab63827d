#!/usr/bin/env python3
"""Runs the tiny models of goldens/ in llama.cpp, from the GGUF files that `tlaloc convert` makes of them, beside the logits of
transformers.

usage: check_llama_cpp.py COMMAND LLM_LLAMA_CPP
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from check_gguf import GOLDENS, MODELS, values
from safetensors.numpy import save_file

# What llama.cpp computes in another way: it leaves out the windows of Phi-3, and takes the long factors for contexts of 256
# tokens, the smallest that it makes.
ELSEWHERE = {"phi3", "phi3_longrope_short"}
# Its gelu is a table of f16.
BOUNDS = {"gemma2": 5e-3, "gemma3_text": 5e-3}
BOUND = 2e-5


def main():
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        for name in MODELS.keys() - ELSEWHERE:
            golden = json.loads((GOLDENS / f"{name}.json").read_text())
            model, path = pathlib.Path(folder) / name, pathlib.Path(folder) / f"{name}.gguf"
            model.mkdir()
            save_file({key: values(key, recipe) for key, recipe in golden["tensors"].items()}, model / "model.safetensors")
            (model / "config.json").write_text(json.dumps(golden["config"]))
            subprocess.run([sys.argv[1], "convert", model, path], check=True)
            ids = golden["ids"] + golden["step_ids"][:-1]
            run = subprocess.run([sys.argv[2], path], input=" ".join(map(str, ids)), capture_output=True, text=True)
            logits = np.array([[float(x) for x in line.split()] for line in run.stdout.splitlines()])
            if run.returncode != 0 or len(logits) != len(ids):
                failures.append(f"{name}: {run.stderr}")
                continue
            rows = golden["positions"] + list(range(len(golden["ids"]) - 1, len(ids)))
            wanted = np.array(golden["logits"] + golden["step_logits"])
            worst = np.abs(logits[rows] - wanted).max()
            print(f"{name:20} {worst:.2e} from transformers, whose largest is {np.abs(wanted).max():.1f}")
            if worst > BOUNDS.get(name, BOUND):
                failures.append(f"{name}: {worst} from transformers")
            # Logits of another place are far away.
            if np.abs(logits[rows[0]] - wanted[-1]).max() < 0.1:
                failures.append(f"{name}: all logits are alike")
    print("\n".join(failures) or "the models converted to GGUF have the logits of transformers in llama.cpp")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
