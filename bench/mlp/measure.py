#!/usr/bin/env python3
"""A training step against JAX: measure.py PROGRAM [--rounds N]. PROGRAM is the build of mlp.cc.

Both run on one processor, in turns; processor time. Prints the medians, the 10th and 90th percentiles and the ratio of
each round.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def run(command):
    environment = dict(os.environ, XLA_FLAGS="--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
                       JAX_PLATFORMS="cpu", OMP_NUM_THREADS="1")
    processor = str(min(os.sched_getaffinity(0)))
    out = subprocess.run(["taskset", "-c", processor, *command], env=environment, check=True, capture_output=True,
                         text=True).stdout
    first = float(re.search(r"first ([\d.]+) ms", out)[1])
    steps = [float(t) for t in re.findall(r"step ([\d.]+) ms", out)]
    return first, statistics.median(steps), float(re.findall(r"loss ([\d.]+)", out)[-1])


def summary(name, values):
    values = sorted(values)
    low, high = values[len(values) // 10], values[-1 - len(values) // 10]
    return f"{name}: {statistics.median(values):.2f} ({low:.2f} to {high:.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", default="20")
    options = parser.parse_args()
    ours, theirs, first_ours, first_theirs = [], [], [], []
    for _ in range(options.rounds):
        first, step, loss = run([options.program, options.steps])
        ours.append(step)
        first_ours.append(first)
        first, step, other_loss = run([str(ROOT / ".venv/bin/python"), str(HERE / "jax_peer.py"), options.steps])
        theirs.append(step)
        first_theirs.append(first)
        # Other random numbers, but both must learn.
        if loss > 0.1 or other_loss > 0.1:
            sys.exit(f"the losses are {loss} and {other_loss}")
    print(summary("Tlaloc, ms a step", ours))
    print(summary("JAX jit, ms a step", theirs))
    print(summary("ratio", [a / b for a, b in zip(ours, theirs)]))
    print(summary("Tlaloc, ms of the first step", first_ours))
    print(summary("JAX, ms of the first step", first_theirs))


if __name__ == "__main__":
    main()
