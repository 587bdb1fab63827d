#!/usr/bin/env python3
"""StableHLO in and out, and small programs on plugins: the Google Benchmark programs of tlaloc/stablehlo and tlaloc/pjrt.

usage: bench/stablehlo/measure.py BUILD [--write]
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REPEATS = 9
PLUGINS = ("xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so")


def times(program, **environment):
    """By benchmark: microseconds of processor time, of wall time, and MB/s, one of each per repetition, which take turns."""
    run = subprocess.run([program, f"--benchmark_repetitions={REPEATS}", "--benchmark_enable_random_interleaving=true",
                          "--benchmark_min_time=0.1", "--benchmark_format=json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         check=True, text=True, env=os.environ | environment)
    r = {}
    for b in json.loads(run.stdout)["benchmarks"]:
        if b["run_type"] != "iteration":
            continue
        if b.get("error_occurred"):
            sys.exit(f"{b['name']}: {b['error_message']}")
        to_us = {"ns": 1e-3, "us": 1, "ms": 1e3}[b["time_unit"]]
        row = r.setdefault(b["run_name"].removeprefix("BM_"), {"cpu": [], "wall": [], "rate": []})
        row["cpu"].append(b["cpu_time"] * to_us)
        row["wall"].append(b["real_time"] * to_us)
        row["rate"].append(b.get("bytes_per_second", 0) / 1e6)
    return r


def spread(values, form):
    return " | ".join(format(x, form) for x in (statistics.median(values), min(values), max(values)))


def text_table(build):
    rows = times(build / "benchmarks/tlaloc_stablehlo_bench")
    titles = {"Emit/10": "emission, 10 layers", "Emit/1000": "emission, 1,000 layers", "ImportGeneric/1000": "import, generic form, 1,000 layers",
              "ImportPretty/1000": "import, pretty form, 1,000 layers", "ParsePretty/1000": "the same, parsed alone",
              "ImportConstant/1048576": "import, one constant of 4 MiB as hex"}
    lines = ["| text | MB/s | least | most |", "|---|---:|---:|---:|"]
    return lines + [f"| {title} | {spread(rows[name]['rate'], '.0f')} |" for name, title in titles.items()]


def plugin_table(build, path):
    rows = times(build / "benchmarks/tlaloc_pjrt_bench", TLALOC_PJRT_PLUGIN=str(path), TLALOC_CACHE="off")
    titles = {"PluginAlone": "a run, the plugin's calls alone", "BackEnd": "a run through the back end",
              "FromAndToTheHost": "the same, from and to arrays of the host", "Compiled": "a program, compiled",
              "FromDisk": "a program, from disk", "UploadInPlace/8": "an array of 32 B, used where it lies",
              "UploadCopied/8": "an array of 32 B, copied", "UploadInPlace/1048576": "an array of 4 MiB, used where it lies",
              "UploadCopied/1048576": "an array of 4 MiB, copied"}
    lines = [f"`{path.stem}`:", "", "| what | us | least | most | of the clock |", "|---|---:|---:|---:|---:|"]
    for name, title in titles.items():
        row = rows[name]
        lines.append(f"| {title} | {spread(row['cpu'], '.1f')} | {statistics.median(row['wall']):.1f} |")
    over = [{k: b - a for k, a, b in zip(("cpu", "wall"), one, other)}
            for one, other in zip(zip(rows["PluginAlone"]["cpu"], rows["PluginAlone"]["wall"]),
                                  zip(rows["BackEnd"]["cpu"], rows["BackEnd"]["wall"]))]
    lines.append(f"| **the back end over the plugin** | {spread([o['cpu'] for o in over], '.1f')} | "
                 f"{statistics.median(o['wall'] for o in over):.1f} |")
    return lines


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        return next(line.split(": ")[1].strip() for line in info if line.startswith("model name"))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    packages = next((ROOT / ".venv-pjrt/lib").glob("python3*")) / "site-packages"
    load = os.getloadavg()[0]
    lines = text_table(build)
    for plugin in PLUGINS:
        lines += ["", *plugin_table(build, packages / plugin)]
    head = ["# StableHLO and plugins", "",
            f"Medians of {REPEATS} repetitions that take turns, by processor time of the calling thread; {processor()}, {os.cpu_count()} "
            f"processors, load {load:.1f} before and {os.getloadavg()[0]:.1f} after.", ""]
    report = "\n".join(head + lines) + "\n"
    if "--write" in sys.argv:
        (HERE / "results.md").write_text(report, encoding="utf-8")
    print(report, end="")


if __name__ == "__main__":
    main()
