#!/usr/bin/env python3
"""Whole programs against peers: compare.py BUILD [--only NAMES] [--rounds N] [--write [FILE]].

Every contestant is a process that serves one program (serve.h, peers/serve.py), all of them on one processor with one
thread. They take turns within a round, by processor time; each round gives one ratio per peer. All of a program must
return the same numbers. BUILD is a folder with the targets programs_bench, by_hand_bench and adolc_bench.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROCESSOR = min(os.sched_getaffinity(0))
OPENBLAS = "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0"
# One thread each; what is set for other libraries' sake would slow a peer down.
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")} | {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TLALOC_NUM_THREADS": "1",
}


class Missing(Exception):
    """The peer does not have this program, or is not installed."""


class Contestant:
    def __init__(self, name, command, **environment):
        self.name = name
        self.process = subprocess.Popen(["taskset", "-c", str(PROCESSOR), *map(str, command)], text=True,
                                        env=ENVIRONMENT | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, cwd="/tmp")
        if self.process.stdout.readline() != "ready\n":
            status, errors = self.process.wait(), self.process.stderr.read().strip()
            raise Missing("" if status == 64 else errors.splitlines()[-1] if errors else f"exit status {status}")

    def run(self, steps):
        """Processor time of a step in ms, the last value, memory in KiB beyond that before the first step.

        Below 0: that many steps, which find no memory kept.
        """
        self.process.stdin.write(f"{steps}\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer:
            sys.exit(f"{self.name}: {self.process.stderr.read()}")
        return float(answer[0]) / abs(steps), float(answer[1]), int(answer[2])

    def check_threads(self):
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            allowed = re.search(r"Cpus_allowed_list:\s+(\S+)", (task / "status").read_text())[1]
            if allowed != str(PROCESSOR):
                sys.exit(f"{self.name}: a thread may run on processors {allowed}")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


@dataclasses.dataclass
class Program:
    name: str
    size: int
    peers: dict  # by name, what the ratio to it must not exceed; None: only measured
    title: str
    tolerance: float = 1e-3
    warm: int = 2
    compiling: float = None  # ms that must do
    trains: bool = False  # its memory has a limit


def all_at(must, *names):
    return dict.fromkeys(names, must)


TRAINING = all_at(0.9, "JAX jit", "torch eager", "torch compile", "MLX, OpenBLAS", "MLX compile, OpenBLAS")
HALF_OF_JAX = {"JAX jit": 0.5}
AS_JAX = {"JAX jit": 1.03}
# Nine tenths of what a loop by hand reaches, where memory is the limit.
LOOPS = {"by hand": 1 / 0.9} | AS_JAX
SCALARS = {"by hand": 1.1, "ADOL-C": 0.2}
FROM_DISK = 20  # ms, of any program whose code is on disk
SIZES = 1_000, 30_000, 1_000_000, 64_000_000
PROGRAMS = [
    Program("mlp", 128, TRAINING, "MLP 784-512-512-10, batch 128, Adam", compiling=100, trains=True),
    Program("cnn", 64, TRAINING, "CNN, batch 64, Adam", trains=True),
    Program("transformer", 8, TRAINING, "4-layer transformer, batch 8, AdamW", compiling=500, trains=True),
    Program("mlp_sizes", 20, {"Tlaloc, fixed": 1.05}, "MLP after 20 other batch sizes", float("inf"), 25),
    Program("per_example", 64, HALF_OF_JAX, "per-example gradients, clipped, batch 64", trains=True),
    Program("hessian", 0, HALF_OF_JAX, "Hessian of 200 variables", 1e-9),
    Program("ode", 0, HALF_OF_JAX, "ODE fit of 1,000 RK4 steps", 1e-9, trains=True),
    Program("logistic", 100_000, HALF_OF_JAX, "logistic regression, 100,000 × 100", trains=True),
    *(Program("chain", n, LOOPS if n == SIZES[-1] else {"by hand": None} | AS_JAX, f"chain of 6 operations, {n:,}")
      for n in SIZES),
    *(Program("exp_chain", n, AS_JAX, f"chain with exp and tanh, {n:,}") for n in SIZES),
    *(Program("sum", n, LOOPS if n == SIZES[-1] else {"by hand": None} | AS_JAX, f"sum of products, {n:,}")
      for n in SIZES),
    Program("softmax", 1024, AS_JAX, "softmax of 1024 × 1024"),
    Program("softmax_gradient", 1024, AS_JAX, "its gradient"),
    Program("layer_norm", 1024, AS_JAX, "layer norm of 1024 × 1024"),
    Program("layer_norm_gradient", 1024, AS_JAX, "its gradients"),
    Program("pendulum", 1000, SCALARS, "pendulum, 1,000 steps", 1e-9),
    Program("newton", 200, SCALARS, "200 Newton iterations", 1e-9),
    Program("rk4", 1000, SCALARS, "1,000 RK4 steps", 1e-9),
    Program("nbody", 100, SCALARS, "5 bodies, 100 steps", 1e-9),
    Program("determinant", 0, SCALARS, "6 × 6 determinant by minors", 1e-9),
    Program("lstm", 32, SCALARS, "LSTM of 8, 32 steps", 1e-9),
    Program("log_sum_exp", 1000, SCALARS, "log-sum-exp of 1,000", 1e-9),
    Program("mixture", 1000, SCALARS, "Gaussian mixture, 1,000 points", 1e-9),
]


def start(name, program, options, cache):
    arguments = [program.name, program.size]
    python, jax_python = options.python, ROOT / ".venv/bin/python"
    bench = options.build / "bench"
    if name == "Tlaloc":
        # As g++ does by default with what is written by hand.
        contract = "on" if program.peers is SCALARS else "off"
        return tlaloc(program, options, "loaded", TLALOC_CACHE_DIR=cache, TLALOC_CONTRACT=contract)
    if name == "Tlaloc, fixed":
        return Contestant(name, [bench / "programs_bench", "mlp_fixed", 128], TLALOC_CACHE_DIR=cache)
    if name == "by hand":
        return Contestant(name, [bench / "by_hand_bench", *arguments])
    if name == "ADOL-C":
        return Contestant(name, [bench / "adolc_bench", *arguments])
    if name == "JAX jit":
        return Contestant(name, [jax_python, HERE / "peers/jax_peer.py", *arguments])
    mode = "compile" if "compile" in name else "eager"
    if name.startswith("torch"):
        return Contestant(name, [python, HERE / "peers/torch_peer.py", *arguments], TORCH_PEER=mode)
    return Contestant(name, [python, HERE / "peers/mlx_peer.py", *arguments], MLX_PEER=mode, LD_PRELOAD=OPENBLAS)


def interval(values):
    """The median and its 95 % bootstrap interval."""
    resample = random.Random(1)
    medians = sorted(statistics.median(resample.choices(values, k=len(values))) for _ in range(2000))
    return statistics.median(values), medians[50], medians[-51]


def same(a, b, tolerance):
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def tlaloc(program, options, *how, **environment):
    return Contestant("Tlaloc", [options.build / "bench/programs_bench", program.name, program.size, *how],
                      **environment)


def first_steps(program, options):
    """What the first step takes beyond a later one that finds no memory either: without and with code on disk."""
    times = []
    with tempfile.TemporaryDirectory() as cache:
        for how in ["loaded"], []:
            contestant = tlaloc(program, options, *how, TLALOC_CACHE_DIR=cache)
            once, _, _ = contestant.run(1)
            contestant.run(program.warm)
            times.append(once - statistics.median(contestant.run(-1)[0] for _ in range(3)))
            contestant.close()
    return times


def prediction(program, options):
    """Bytes that a run allocates at most, as explain predicts and measures it."""
    contestant = tlaloc(program, options, "explain", TLALOC_CACHE="off")
    contestant.run(1)
    report, _ = contestant.process.communicate()
    peaks = json.loads(report[report.index("\n{"):])
    return peaks["predicted_peak"], peaks["measured_peak"]


def compare(program, options):
    """A dictionary of what was measured."""
    with tempfile.TemporaryDirectory() as cache:
        contestants, missing = [start("Tlaloc", program, options, cache)], {}
        for name in program.peers:
            try:
                contestants.append(start(name, program, options, cache))
            except Missing as reason:
                if str(reason):
                    missing[name] = str(reason)
        first, memory, blocks, values = {}, {}, {}, {}
        for c in contestants:
            first[c.name], one, _ = c.run(1)
            values[c.name] = one, c.run(program.warm)[1]
            ms = max(c.run(1)[0], 1e-4)
            ms = max(c.run(max(1, int(20 / ms)))[0], 1e-4)
            blocks[c.name] = max(1, int(options.block / ms))
        for c in contestants[1:]:
            if not all(same(a, b, program.tolerance) for a, b in zip(values["Tlaloc"], values[c.name])):
                sys.exit(f"{program.name}: Tlaloc computes {values['Tlaloc']}, {c.name} {values[c.name]}")
        times = {c.name: [] for c in contestants}
        for k in range(options.rounds):
            for c in contestants[k % len(contestants):] + contestants[:k % len(contestants)]:
                times[c.name].append(c.run(blocks[c.name])[0])
        for c in contestants:
            memory[c.name] = max(c.run(-1)[2] for _ in range(3))
            c.check_threads()
            c.close()
    compiling, cached = zip(*(first_steps(program, options) for _ in range(3)))
    ratios = {name: interval([a / b for a, b in zip(times["Tlaloc"], t)])
              for name, t in times.items() if name != "Tlaloc"}
    return dict(times={n: statistics.median(t) for n, t in times.items()}, ratios=ratios, first=first, memory=memory,
                missing=missing, compiling=statistics.median(compiling), cached=statistics.median(cached),
                prediction=prediction(program, options) if program.trains else None)


def ms(value):
    return f"{value:.3g} ms" if value >= 1 else f"{1e3 * value:.3g} µs"


def row(program, result):
    times, ratios = result["times"], result["ratios"]
    cells = [program.title, ms(times["Tlaloc"])]
    cells.append("; ".join(f"{n} {ms(times[n])}: {r[0]:.2f} ({r[1]:.2f} to {r[2]:.2f})"
                           for n, r in sorted(ratios.items(), key=lambda item: times[item[0]])))
    musts = {n: program.peers[n] for n in ratios if program.peers[n] is not None}
    limits = {}
    for name, must in musts.items():
        limits.setdefault(must, []).append(name)
    cells.append("; ".join(f"≤ {must:.3g} of {', '.join(names) if len(limits) > 1 else 'each'}"
                           for must, names in limits.items()))
    cells.append("not measured" if not musts else "yes" if all(ratios[n][2] <= m for n, m in musts.items())
                 else "**no**" if any(ratios[n][1] > m for n, m in musts.items()) else "within the noise")
    return f"| {' | '.join(cells)} |"


def holds(*conditions):
    return "yes" if all(conditions) else "**no**"


def first_row(program, result):
    first = result["first"]
    musts, kept = [f"≤ {FROM_DISK} ms from disk"], [result["cached"] <= FROM_DISK]
    if program.compiling:
        musts.append(f"≤ {program.compiling} ms and a tenth of JAX's first step")
        kept += [result["compiling"] <= program.compiling, result["compiling"] <= first["JAX jit"] / 10]
    cells = [program.title, ms(result["compiling"]), ms(result["cached"]), "; ".join(musts), holds(*kept),
             "; ".join(f"{n} {ms(first[n])}" for n in ["Tlaloc", *result["ratios"]])]
    return f"| {' | '.join(cells)} |"


def memory_row(program, result):
    memory = {n: kib / 1024 for n, kib in result["memory"].items()}
    ours = memory.pop("Tlaloc")
    predicted, measured = (b / 2**20 for b in result["prediction"])
    cells = [program.title, f"{ours:.1f}", "; ".join(f"{n} {mib:.1f}" for n, mib in memory.items()),
             holds(*(ours <= mib for mib in memory.values())), f"{predicted:.2f}", f"{measured:.2f}",
             holds(abs(measured / predicted - 1) <= 0.05)]
    return f"| {' | '.join(cells)} |"


def versions(options):
    def of(command):
        try:
            return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return "not installed"
    processor = re.search(r"model name\s*:\s*(.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]
    vector = "AVX-512" if " avx512f" in pathlib.Path("/proc/cpuinfo").read_text() else "AVX2"
    line = "from importlib.metadata import version as v; print(*(f'{p} {v(p)}' for p in %r), sep=', ')"
    build = re.search(r"CMAKE_BUILD_TYPE:\w+=(\w+)", (options.build / "CMakeCache.txt").read_text())[1]
    return (f"{processor} ({vector}), {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; {build}, "
            f"{of(['g++', '--version']).splitlines()[0]}; "
            f"{of([ROOT / '.venv/bin/python', '-c', line % (['jax'],)])}, "
            f"{of([options.python, '-c', line % (['torch', 'mlx'],)])}; "
            f"Tlaloc {of(['git', '-C', ROOT, 'describe', '--always', '--dirty'])}; {datetime.date.today()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--only", help="a regular expression that a program's name matches as a whole")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--block", type=float, default=100, help="ms of a contestant's turn, one step at least")
    parser.add_argument("--python", type=pathlib.Path, default=ROOT / ".venv-peers/bin/python",
                        help="that of the peers which ./setup --peers installs")
    parser.add_argument("--write", type=pathlib.Path, nargs="?", const=HERE / "table.md", help="write the tables there")
    options = parser.parse_args()
    head = ["| program | Tlaloc | peers: Tlaloc relative to them | must | holds |", "|---|---:|---|---|---|"]
    first = ["| program | compiling | from disk | must | holds | first steps |", "|---|---:|---:|---|---|---|"]
    memory = ["| program | MiB | peers' MiB | no more than any | predicted for a step | measured | within 5 % |",
              "|---|---:|---|---|---:|---:|---|"]
    print("\n".join(head), flush=True)
    for program in PROGRAMS:
        if options.only and not re.fullmatch(options.only, program.name):
            continue
        result = compare(program, options)
        for name, reason in result["missing"].items():
            print(f"{name} did not run: {reason}", file=sys.stderr)
        head.append(row(program, result))
        print(head[-1], flush=True)
        # With the largest arrays, new pages would take far longer than compiling.
        if "JAX jit" in program.peers and program.size < SIZES[-1]:
            first.append(first_row(program, result))
            print(first[-1], file=sys.stderr, flush=True)
        if program.trains:
            memory.append(memory_row(program, result))
            print(memory[-1], file=sys.stderr, flush=True)
    text = "\n".join(["# Whole programs against peers", "", versions(options), "", *head, "",
                      "Compiling: what the first step takes beyond a later one that has no memory from earlier ones",
                      "either, the middle one of three processes, with LLVM loaded and nothing cached; and with the",
                      "code on disk in a new process, which loads no LLVM; the first use of a program's own memory is a",
                      "part of it. First steps are whole.", "", *first, "",
                      "Memory: the peak of a later step beyond what was in use before the first one, so with results",
                      "and what compiling left. Predicted and measured are `explain`'s, of a step alone that moves",
                      "nothing in.", "", *memory, ""])
    if options.write:
        options.write.write_text(text)


if __name__ == "__main__":
    main()
