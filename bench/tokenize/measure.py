#!/usr/bin/env python3
"""Tlaloc's tokenizer against tokenizers and tiktoken: one thread, the same vocabulary and text, in turns.

usage: .venv/bin/python bench/tokenize/measure.py BUILD [--write]
"""

import os

os.environ["RAYON_NUM_THREADS"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import json  # noqa: E402
import pathlib  # noqa: E402
import pydoc_data.topics  # noqa: E402
import random  # noqa: E402
import re  # noqa: E402
import statistics  # noqa: E402
import struct  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/text"))

import check_smollm2  # noqa: E402
import tiktoken  # noqa: E402
import tokenizers  # noqa: E402

MODEL = ROOT / "data/SmolLM2-135M-Instruct.Q4_1.gguf"
ROUNDS = 11
SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
# Each number by itself and then GPT-2's words, in one pattern: blanks before a number are together.
PATTERN = (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+|\s+(?=\p{N})|\s+(?!\S)|\s+")


class Tlaloc:
    def __init__(self, program, tokenizer, documents):
        self.process = subprocess.Popen([program, tokenizer, documents], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, task):
        self.process.stdin.write(task + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().split()

    def seconds(self, task):
        return float(self.ask(task)[0])

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def seconds_of(work):
    start = time.thread_time()
    work()
    return time.thread_time() - start


def as_tiktoken(t):
    """Ranks are ids: where the earlier of two merges is that with the lower result, they say the same."""
    byte_of = {c: b for b, c in kinds_of_bytes().items()}
    special = set(t.get_added_tokens_decoder())
    ranks = {bytes(byte_of[c] for c in token): i for token, i in t.get_vocab().items() if i not in special}
    return tiktoken.Encoding("smollm2", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


def kinds_of_bytes():
    """The character that stands for each byte in a byte-level vocabulary."""
    shown = [*range(33, 127), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [b for b in range(256) if b not in shown]
    return {b: chr(b) for b in shown} | {b: chr(256 + i) for i, b in enumerate(hidden)}


def large(path):
    """A tokenizer.json of 11 MB as the package writes them: 128,000 tokens of a byte-level BPE."""
    r = random.Random(1)
    tokens = list(kinds_of_bytes().values())
    known, merges = set(tokens), []
    while len(tokens) < 128_000:
        left, right = r.choice(tokens), r.choice(tokens)
        if len(left + right) <= 16 and left + right not in known:
            merges.append([left, right])
            known.add(left + right)
            tokens.append(left + right)
    described = {"version": "1.0", "model": {"type": "BPE", "vocab": {t: i for i, t in enumerate(tokens)}, "merges": merges},
                 "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}}
    path.write_text(json.dumps(described, ensure_ascii=False, indent=1), encoding="utf-8")
    return path.stat().st_size / 1e6


def write_documents(path, documents):
    path.write_bytes(b"".join(struct.pack("<I", len(d)) + d for d in (d.encode() for d in documents)))


def measure(folder, program):
    documents = list(pydoc_data.topics.topics.values())
    write_documents(folder / "documents", documents)
    megabytes = sum(len(d.encode()) for d in documents) / 1e6
    theirs = check_smollm2.reference(str(MODEL))
    theirs.save(str(folder / "tokenizer.json"))
    tik = as_tiktoken(theirs)
    ours = Tlaloc(program, folder / "tokenizer.json", folder / "documents")
    expected = [i for e in theirs.encode_batch_fast(documents) for i in e.ids]
    assert list(map(int, ours.ask("list"))) == expected
    assert [i for d in documents for i in tik.encode_ordinary(d)] == expected

    contestants = {
        "Tlaloc, ids": lambda: ours.seconds("ids"),
        "Tlaloc, ids, masks and offsets": lambda: ours.seconds("offsets"),
        "Tlaloc, a batch on all threads, of the process": lambda: ours.seconds("batch"),
        "Tlaloc, ids, the first time": lambda: first_pass(program, folder),
        "tokenizers, encode_batch_fast": lambda: seconds_of(lambda: theirs.encode_batch_fast(documents)),
        "tokenizers, encode_batch, with offsets": lambda: seconds_of(lambda: theirs.encode_batch(documents)),
        "tiktoken, encode_ordinary": lambda: seconds_of(lambda: [tik.encode_ordinary(d) for d in documents])}
    rates = {name: [] for name in contestants}
    for _ in range(ROUNDS):
        for name, run in contestants.items():
            rates[name].append(megabytes / run())
    letters = {n: statistics.median(ours.seconds(f"letter {n}") for _ in range(3)) for n in SIZES}
    ours.close()

    size = large(folder / "large.json")
    loader = Tlaloc(program, folder / "large.json", folder / "documents")
    loads = [(loader.seconds("load"), seconds_of(lambda: tokenizers.Tokenizer.from_file(str(folder / "large.json"))))
             for _ in range(ROUNDS)]
    loader.close()
    return megabytes, rates, letters, size, loads


def first_pass(program, folder):
    fresh = Tlaloc(program, folder / "tokenizer.json", folder / "documents")
    seconds = fresh.seconds("ids")
    fresh.close()
    return seconds


def record(megabytes, rates, letters, size, loads):
    cpu = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())[1]

    def times(one, other):
        ratios = sorted(a / b for a, b in zip(rates[one], rates[other]))
        return f"| {one} | {other} | {statistics.median(ratios):.1f} | {ratios[0]:.1f} to {ratios[-1]:.1f} |"

    lines = ["# Tokenizing English", "",
             f"Ids of SmolLM2's vocabulary for the {megabytes:.2f} MB of Python's help topics, document by document, by "
             f"processor time of one thread; medians of {ROUNDS} rounds that take turns. {cpu}, {os.cpu_count()} processors, "
             f"load {os.getloadavg()[0]:.0f}; tokenizers {tokenizers.__version__}, tiktoken {tiktoken.__version__}. All give "
             "the same ids.", "", "| what | MB/s | least to most |", "|---|---:|---:|"]
    lines += [f"| {name} | {statistics.median(r):.1f} | {min(r):.1f} to {max(r):.1f} |" for name, r in rates.items()]
    lines += ["", "| what | against | times as fast | least to most |", "|---|---|---:|---:|",
              times("Tlaloc, ids", "tokenizers, encode_batch_fast"),
              times("Tlaloc, ids, masks and offsets", "tokenizers, encode_batch, with offsets"),
              times("Tlaloc, ids", "tiktoken, encode_ordinary"),
              times("Tlaloc, ids, the first time", "tiktoken, encode_ordinary"), "",
              "The letter a, so many times, as one word:", "", "| bytes | ns a byte |", "|---:|---:|"]
    lines += [f"| {n:,} | {s / n * 1e9:.1f} |" for n, s in letters.items()]
    ours, theirs = zip(*loads)
    lines += ["", f"Loading a `tokenizer.json` of {size:.1f} MB: {statistics.median(ours) * 1e3:.0f} ms "
              f"({min(ours) * 1e3:.0f} to {max(ours) * 1e3:.0f}); tokenizers takes {statistics.median(theirs) * 1e3:.0f} ms.", ""]
    return "\n".join(lines)


def main():
    program = pathlib.Path(sys.argv[1]) / "bench/tokenize_bench"
    with tempfile.TemporaryDirectory() as folder:
        text = record(*measure(pathlib.Path(folder), program))
    print(text)
    if "--write" in sys.argv:
        (HERE / "results.md").write_text(text)


if __name__ == "__main__":
    main()
