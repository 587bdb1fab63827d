#!/usr/bin/env python3
"""Printed gradients against gradients written by hand and against the primal: measure.py BUILD.

BUILD is a build folder that holds the library. Prints the table of README.md.
"""

import argparse
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FLAGS = ["g++", "-std=c++20", "-O2", "-ffp-contract=off"]

# name: arguments as C++, calls per sample
PROGRAMS = {
    "option_price": (["80.0 + i % 40", "100.0", "0.02", "0.2 + 1e-3 * (i % 50)", "1.0"], 20000),
    "pendulum": (["1.0 + 1e-3 * (i % 100)", "0.1", "std::int64_t{1000}"], 50),
    "root": (["2.0 + i % 1000"], 20000),
}

HARNESS = """
#include <algorithm>
#include <cstdio>
#include <ctime>
#include "{hand}"
{printed}
namespace {{
template <class X> double total(const X& x) {{
  if constexpr (requires {{ x + 1.0; }}) return x;
  else {{
    double s = 0;
    const double* p = reinterpret_cast<const double*>(&x);
    for (unsigned k = 0; k < sizeof x / sizeof(double); ++k) s += p[k];
    return s;
  }}
}}
/// A value that the compiler knows nothing of.
template <class T> T opaque(T x) {{
  asm volatile("" : "+m"(x));
  return x;
}}
template <class F> double nanoseconds(int calls, double& sum, F f) {{
  // Processor time: what else runs on the machine does not count.
  auto now = [] {{
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
  }};
  const double start = now();
  for (int i = 0; i < calls; ++i) sum = opaque(sum + total(f(i)));
  return (now() - start) / calls;
}}
/// The gradients are the same numbers, rounding aside.
bool differ(double a, double b) {{ return !(std::abs(a - b) <= 1e-9 * (std::abs(a) + std::abs(b))); }}
}}
int main() {{
  double sums[3] = {{}};
  // The three take turns, so that what the machine does meanwhile meets all of them.
  for (int sample = 0; sample < {samples}; ++sample) {{
{cases}
  }}
}}
"""


def run(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--samples", type=int, default=41)
    args = parser.parse_args()
    build = args.build.resolve()
    library = next(p for p in (build / "libtlaloc.so", build / "libtlaloc.a") if p.exists())
    with tempfile.TemporaryDirectory() as folder:
        printer, harness = f"{folder}/print", f"{folder}/harness"
        run(["g++", "-std=c++20", f"-I{ROOT}", str(HERE / "print.cc"), "-o", printer,
             str(library), f"-Wl,-rpath,{build}", "-lfmt", "-ldw"])
        cases = ""
        for name, (arguments, calls) in PROGRAMS.items():
            functions = (name, f"{name}_gradient", f"by_hand::{name}_gradient")
            inputs = ", ".join(f"opaque({a})" for a in arguments)
            cases += f'    std::printf("{name}");\n    std::ranges::fill(sums, 0.0);\n'
            for k, f in enumerate(functions):
                cases += (f'    std::printf(" %g", nanoseconds({calls}, sums[{k}], '
                          f'[](int i) {{ return {f}({inputs}); }}));\n')
            cases += '    std::printf("\\n");\n    if (differ(sums[1], sums[2])) return 1;\n'
        pathlib.Path(f"{folder}/harness.cc").write_text(
            HARNESS.format(hand=HERE / "by_hand.h", printed=run([printer]), samples=args.samples,
                           cases=cases), encoding="utf-8")
        run([*FLAGS, f"{folder}/harness.cc", "-o", harness])
        lines = [line.split() for line in run([harness]).splitlines()]
    print("| program | primal, ns | printed, ns | printed / by hand | printed / primal |")
    print("|---|---|---|---|---|")
    for name in PROGRAMS:
        samples = [tuple(map(float, line[1:])) for line in lines if line[0] == name]

        def ratio(over: int) -> str:
            values = sorted(s[1] / s[over] for s in samples)
            low, high = values[len(values) // 10], values[-1 - len(values) // 10]
            return f"{statistics.median(values):.2f} ({low:.2f} to {high:.2f})"

        primal, printed = (statistics.median(s[k] for s in samples) for k in (0, 1))
        print(f"| {name} | {primal:.0f} | {printed:.0f} | {ratio(2)} | {ratio(0)} |")


if __name__ == "__main__":
    main()
