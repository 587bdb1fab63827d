#!/usr/bin/env python3
"""Checks what the compilers say about mistakes: one error, on the user's line, short, with the verdict and the types.

usage: check.py INCLUDE_DIR [--compiler COMMAND]... [--jobs N] [--table] [NAME...]
       check.py INCLUDE_DIR --self-test [--compiler COMMAND]

Each file of mistakes/ begins with what is expected:
    // CODE: reason            the verdict; with '-' for CODE the reason alone is looked for
    // type: T                 a whole type that must appear, axes as Axis<Name, size>
    // modes: typed generic    compiled with and without GENERIC (see model.h); 'plain' and one alone: once
    // place: header           the error is in a header, and the marked line is where it was needed from
and marks the line with '// error in: TEXT', whose columns hold the error.
"""

import argparse
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
COMPILERS = ["g++", "clang++-19"]
MAX_LINES = 15
# clang names each of the frames of a generic lambda, and adds a line that counts the errors.
MAX_LINES_CLANG_GENERIC = 16
# clang cuts texts in template arguments behind this many characters.
CLANG_TEXT = 34


class Case:
    def __init__(self, path):
        self.path = path
        lines = path.read_text().splitlines()
        head = re.match(r"// (\S+): (.*)$", lines[0])
        if not head:
            raise SystemExit(f"{path}:1: '// CODE: reason' is due")
        self.code, self.reason = head.groups()
        self.types, self.modes, self.place = [], ["plain"], "line"
        for line in lines[1:]:
            field = re.match(r"// (type|modes|place): (.*)$", line)
            if not field:
                break
            if field[1] == "type":
                self.types.append(field[2])
            elif field[1] == "modes":
                self.modes = field[2].split()
            else:
                self.place = field[2]
        marked = [(n, line) for n, line in enumerate(lines, 1) if "// error in: " in line]
        if len(marked) != 1:
            raise SystemExit(f"{path}: one line with '// error in: TEXT' is due")
        self.line, text = marked[0]
        code, token = text.split("// error in: ")
        begin = code.find(token.rstrip())
        if begin < 0:
            raise SystemExit(f"{path}:{self.line}: the marked text is not in the line")
        # A column behind the text still counts: g++ points at a closing parenthesis or the whole call.
        self.columns = range(max(begin - 3, 1), len(code.rstrip()) + 2)


def compile_text(compiler, include, path, mode):
    command = [compiler, "-std=c++20", "-fsyntax-only", "-fno-diagnostics-color", f"-I{include}"]
    if mode == "generic":
        command.append("-DGENERIC")
    run = subprocess.run(command + [str(path)], capture_output=True, text=True, errors="replace",
                         env={"PATH": "/usr/bin:/bin:/usr/local/bin", "LC_ALL": "C"})
    return run.returncode, run.stderr


def normalize(text):
    """The compilers' ways to write an axis and a namespace, made one."""
    text = re.sub(r"\btlaloc::|\btl::|\bstruct ", "", text)
    text = re.sub(r"\b((?:Axis|Bounded)<[^<>]*>)(?:\(\)|\{\})", r"\1", text)
    return text.replace("\\'", "'")


def check(case, compiler, mode, include):
    """Complaints about one compilation, and its number of lines."""
    status, text = compile_text(compiler, include, case.path, mode)
    clang = "clang" in compiler
    lines = text.splitlines()
    errors = [line for line in lines if re.search(r"(?:^|: )(?:fatal )?error: ", line)]
    complaints = []
    if status == 0:
        return ["it compiles"], len(lines)
    if len(errors) != 1:
        complaints.append(f"{len(errors)} errors")
    limit = MAX_LINES_CLANG_GENERIC if clang and mode == "generic" else MAX_LINES
    if len(lines) > limit:
        complaints.append(f"{len(lines)} lines, more than {limit}")
    where = re.match(r"(.+?):(\d+):(\d+): (?:fatal )?error: ", errors[0]) if errors else None
    here = where and pathlib.Path(where[1]).name == case.path.name
    if case.place == "header":
        if here:
            complaints.append("the error is on the user's line: drop 'place: header'")
        if not re.search(rf"{re.escape(case.path.name)}:{case.line}:\d+:", text):
            complaints.append(f"line {case.line} is not named")
    elif not here or int(where[2]) != case.line:
        complaints.append(f"the error is at {where[1] + ':' + where[2] if where else 'no place'}, not at line {case.line}")
    elif int(where[3]) not in case.columns:
        complaints.append(f"column {where[3]} is outside the marked text")
    plain = normalize(text)
    reason = case.reason[:CLANG_TEXT] if clang and case.code != "-" else case.reason
    for wanted in [reason] + ([] if case.code == "-" else [case.code]) + case.types:
        if normalize(wanted) not in plain:
            complaints.append(f"lacks '{wanted}'")
    return complaints, len(lines)


def available(compilers):
    found = [c for c in compilers if shutil.which(c)]
    for c in compilers:
        if c not in found:
            print(f"skipped: {c} is not installed")
    return found


def run(include, compilers, jobs, names, table):
    paths = sorted((FOLDER / "mistakes").glob("*.cc"))
    if names:
        paths = [p for p in paths if p.stem in names]
    cases = [Case(p) for p in paths]
    work = [(case, compiler, mode) for case in cases for compiler in compilers for mode in case.modes]
    failures = 0
    rows = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        correct = {c: pool.submit(compile_text, c, include, FOLDER / "correct.cc", "plain") for c in compilers}
        results = pool.map(lambda w: check(*w, include), work)
        for (case, compiler, mode), (complaints, lines) in zip(work, results):
            rows.setdefault(case.path.stem, {})[f"{compiler} {mode}"] = lines
            for complaint in complaints:
                failures += 1
                print(f"{case.path.stem}: {compiler}, {mode}: {complaint}")
        # The negative control: the same operations, used rightly, must compile.
        for compiler, result in correct.items():
            status, text = result.result()
            if status or text:
                failures += 1
                print(f"correct.cc: {compiler}: it should compile in silence\n{text}")
    if table:
        for name, lines in rows.items():
            print(f"{name:28}" + "".join(f"{key}: {n:3}   " for key, n in lines.items()))
    print(f"compile_errors: {len(cases)} mistakes, {len(work)} compilations, {failures} failures")
    return failures


def self_test(include, compiler):
    """Each planted fault must be found."""
    good = (FOLDER / "mistakes" / "matmul_sizes.cc").read_text().replace("../model.h", str(FOLDER / "model.h"))
    planted = [
        ("as it stands", good, None),
        ("another code", good.replace("TL-SHAPE-003", "TL-SHAPE-999"), "lacks 'TL-SHAPE-999'"),
        ("another reason", good.replace("784 meets Hidden=128", "784 meets Hidden=64"), "lacks '784 meets"),
        ("another type", good.replace("Axis<Hidden, 128>, 10>", "Axis<Hidden, 128>, 11>"), "lacks 'Tensor<"),
        ("another line", good.replace("  gradient(", "\n  gradient(").replace("// error in: matmul(x, m.w2)", "")
         .replace("gradient(model, images);", "gradient(model, images);  // error in: gradient"), "not at line"),
        ("another column", good.replace("return tl::mean", "return 1.0 + 2.0 + tl::mean")
         .replace("// error in: matmul(x, m.w2)", "").replace("m.w2));", "m.w2));  // error in: m.w2"), None),
        ("a second error", good.replace("gradient(model, images);", "gradient(model, images); undefined();"),
         "2 errors"),
        ("no error", good.replace("m.w2", "m.w1"), "it compiles"),
        ("the wrong place", good.replace("// modes", "// place: header\n// modes"), "drop 'place: header'"),
    ]
    failures = 0
    for what, text, expected in planted:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "case.cc")
            path.write_text(text)
            case = Case(path)
            if what == "another column":  # the whole call is accepted; nothing before it is
                case.columns, expected = range(1, 12), "outside the marked text"
            complaints, _ = check(case, compiler, "typed", include)
        right = any(expected in c for c in complaints) if expected else not complaints
        if not right:
            failures += 1
            print(f"self-test: {what}: expected {expected or 'no complaint'}, got {complaints}")
    case = Case(FOLDER / "mistakes" / "matmul_sizes.cc")
    global MAX_LINES
    MAX_LINES, kept = 3, MAX_LINES
    complaints, _ = check(case, compiler, "typed", include)
    MAX_LINES = kept
    if not any("more than 3" in c for c in complaints):
        failures += 1
        print(f"self-test: too many lines: got {complaints}")
    print(f"self-test: {len(planted) + 1} planted faults, {failures} failures")
    return failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("include")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--compiler", action="append")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_intermixed_args()
    compilers = available(options.compiler or COMPILERS)
    if not compilers:
        sys.exit("no compiler was found")
    if options.self_test:
        sys.exit(1 if self_test(options.include, compilers[0]) else 0)
    sys.exit(1 if run(options.include, compilers, options.jobs, options.names, options.table) else 0)


if __name__ == "__main__":
    main()
