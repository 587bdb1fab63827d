#!/usr/bin/env python3
"""Checks what the compilers say about mistakes: one error, on the user's line, short, with the verdict and the types.

usage: check.py INCLUDE_DIR [--compiler COMMAND]... [--jobs N] [--table] [NAME...]
       check.py INCLUDE_DIR --self-test [--compiler COMMAND]

Each file of mistakes/ begins with what is expected:
    // CODE: reason            the verdict; with '-' for CODE the reason alone is looked for
    // type: T                 a whole type that must appear, axes as Axis<Name, size>
    // modes: typed generic    compiled with and without GENERIC (see model.h); 'plain' and one alone: once
    // place: header           the error is in a header, and the marked line is where it was needed from
    // except: clang generic: 2 errors, 22 lines: why
                               what one compiler says at most, where it can't be brought to say less
and marks the line with '// error in: TEXT', whose columns hold the error.

overloads.cc holds many mistakes, one a line, each marked with its code. Together they must reach every deleted overload
and every literal verdict of the headers.
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
        self.types, self.modes, self.place, self.exceptions = [], ["plain"], "line", {}
        for line in lines[1:]:
            field = re.match(r"// (type|modes|place|except): (.*)$", line)
            if not field:
                if line.startswith("//   "):  # goes on
                    continue
                break
            if field[1] == "except":
                said = re.match(r"(\w+ \w+): (\d+) errors?, (\d+) lines: \S", field[2])
                if not said:
                    raise SystemExit(f"{path}: 'except: COMPILER MODE: N errors, M lines: why' is due")
                self.exceptions[said[1]] = int(said[2]), int(said[3])
            elif field[1] == "type":
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


class Compiler:
    """A compiler with the headers on its path, precompiled where that leaves its messages as they are."""

    def __init__(self, command, include, folder):
        self.name = command
        self.include = include
        self.clang = "clang" in command
        self.flags = [command, "-std=c++20", "-fno-diagnostics-color", f"-I{include}"]
        self.precompiled = {}
        if self.clang:  # g++ gains little from its own, and names another chain of includes
            for generic in (False, True):
                header = pathlib.Path(folder, f"model-{generic}.pch")
                self.run(["-x", "c++-header", "-o", header, FOLDER / "model.h"] + ["-DGENERIC"] * generic, check=True)
                self.precompiled[generic] = ["-include-pch", header]

    def run(self, arguments, check=False):
        return subprocess.run([str(word) for word in self.flags + arguments], capture_output=True, text=True,
                              errors="replace", check=check, env={"PATH": "/usr/bin:/bin:/usr/local/bin", "LC_ALL": "C"})

    def text(self, path, mode, *arguments):
        generic = mode == "generic"
        done = self.run(self.precompiled.get(generic, []) + ["-DGENERIC"] * generic + ["-fsyntax-only", *arguments, path])
        return done.returncode, done.stderr


def is_error(line):
    return re.search(r"(?:^|: )(?:fatal )?error: ", line)


def normalize(text):
    """The compilers' ways to write an axis and a namespace, made one."""
    text = re.sub(r"\btlaloc::|\btl::|\bstruct ", "", text)
    text = re.sub(r"\b((?:Axis|Bounded)<[^<>]*>)(?:\(\)|\{\})", r"\1", text)
    return text.replace("\\'", "'")


def check(case, compiler, mode):
    """Complaints about one compilation, and its text."""
    status, text = compiler.text(case.path, mode)
    clang = compiler.clang
    lines = text.splitlines()
    errors = [line for line in lines if is_error(line)]
    complaints = []
    if status == 0:
        return ["it compiles"], text
    limits = 1, MAX_LINES_CLANG_GENERIC if clang and mode == "generic" else MAX_LINES
    due, limit = case.exceptions.get(f"{'clang' if clang else 'g++'} {mode}", limits)
    if len(errors) != due:
        complaints.append(f"{len(errors)} errors")
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
    return complaints, text


def check_overloads(compiler, path=FOLDER / "overloads.cc"):
    """Complaints about overloads.cc, and its text: each marked line has one error with its code, others have none."""
    _, text = compiler.text(path, "plain", "-w", "-ferror-limit=0" if compiler.clang else "-fmax-errors=0")
    due = {n: m[1] for n, line in enumerate(path.read_text().splitlines(), 1) if (m := re.search(r"// (TL-\S+)$", line))}
    lines = text.splitlines()
    starts = [n for n, line in enumerate(lines) if is_error(line)]
    complaints, seen = [], set()
    for begin, end in zip(starts, starts[1:] + [len(lines)]):
        part = "\n".join(lines[begin:end])
        where = re.match(rf"\S*{path.name}:(\d+):", part)
        line = int(where[1]) if where else 0
        if line not in due:
            complaints.append(f"an error in a line without a mark: {lines[begin]}")
        elif line in seen:
            complaints.append(f"line {line}: a second error: {lines[begin]}")
        elif f'"{due[line]}"' not in part:
            complaints.append(f"line {line}: lacks {due[line]}: {lines[begin]}")
        elif end - begin > MAX_LINES:
            complaints.append(f"line {line}: {end - begin} lines, more than {MAX_LINES}")
        seen.add(line)
    return complaints + [f"line {line}: it compiles" for line in sorted(due.keys() - seen)], text


def unreached(include, texts):
    """Deleted overloads and literal verdicts of the headers that no text shows."""
    reached = {(m[1], int(m[2])) for text in texts
               for m in re.finditer(r"tlaloc/lang/(\w+\.h):(\d+):\d+: note: (?:declared here|.*explicitly deleted)", text)}
    verdicts = set(re.findall(r'"(TL-[A-Z]+-\d+)", "([^"]*)"', normalize("\n".join(texts))))
    missing = []
    for header in sorted(pathlib.Path(include, "tlaloc", "lang").glob("*.h")):
        begin = 1
        source = header.read_text()
        for n, line in enumerate(source.splitlines(), 1):
            if line.lstrip().startswith("template <"):
                begin = n
            if line.endswith("= delete;"):
                declaration = "\n".join(source.splitlines()[begin - 1:n])
                if "auto Why" in declaration and not any((header.name, at) in reached for at in range(begin, n + 1)):
                    missing.append(f"{header.name}:{n}: no mistake reaches this overload")
        for code, reason in re.findall(r'"(TL-[A-Z]+-\d+)",\s*"([^"]+)"', source):
            if not any(code == shown and normalize(reason) in text for shown, text in verdicts):
                missing.append(f"{header.name}: no mistake gets {code}: {reason}")
    return missing


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
    rows, texts = {}, []

    def report(where, compiler, complaints):
        nonlocal failures
        failures += len(complaints)
        for complaint in complaints:
            print(f"{where}: {compiler.name}: {complaint}")

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        # The negative control: the same operations, used rightly, must compile.
        correct = [pool.submit(c.text, FOLDER / "correct.cc", "plain") for c in compilers]
        overloads = [pool.submit(check_overloads, c) for c in compilers]
        results = pool.map(lambda w: check(*w), work)
        for (case, compiler, mode), (complaints, text) in zip(work, results):
            rows.setdefault(case.path.stem, {})[f"{compiler.name} {mode}"] = len(text.splitlines())
            report(f"{case.path.stem}, {mode}", compiler, complaints)
            if not compiler.clang:  # which cuts texts
                texts.append(text)
        for compiler, result in zip(compilers, correct):
            status, text = result.result()
            report("correct.cc", compiler, [f"it should compile in silence\n{text}"] if status or text else [])
        for compiler, result in zip(compilers, overloads):
            complaints, text = result.result()
            report("overloads.cc", compiler, complaints)
            if not compiler.clang:
                texts.append(text)
    if not names and texts:
        missing = unreached(include, texts)
        failures += len(missing)
        print("".join(f"{line}\n" for line in missing), end="")
    if table:
        for name, lines in rows.items():
            print(f"{name:28}" + "".join(f"{key}: {n:3}   " for key, n in lines.items()))
    print(f"compile_errors: {len(cases)} mistakes, {len(work)} compilations, {failures} failures")
    return failures


def self_test(compiler):
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
            complaints, _ = check(case, compiler, "typed")
        right = any(expected in c for c in complaints) if expected else not complaints
        if not right:
            failures += 1
            print(f"self-test: {what}: expected {expected or 'no complaint'}, got {complaints}")
    case = Case(FOLDER / "mistakes" / "matmul_sizes.cc")
    global MAX_LINES
    MAX_LINES, kept = 3, MAX_LINES
    complaints, _ = check(case, compiler, "typed")
    MAX_LINES = kept
    if not any("more than 3" in c for c in complaints):
        failures += 1
        print(f"self-test: too many lines: got {complaints}")
    lines = """#include "model.h"
void f(const Mlp& m, Images x) {
  x + m.w2;  // TL-SHAPE-001
  x - m.w2;  // TL-SHAPE-003
  x * m.w2;
  x - 1;     // TL-SHAPE-001
}
"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "case.cc")
        path.write_text(lines.replace("model.h", str(FOLDER / "model.h")))
        complaints, text = check_overloads(compiler, path)
    for expected in ["line 4: lacks TL-SHAPE-003", "without a mark", "line 6: it compiles"]:
        if not any(expected in c for c in complaints):
            failures += 1
            print(f"self-test: overloads: expected {expected}, got {complaints}")
    if len(complaints) != 3:
        failures += 1
        print(f"self-test: overloads: got {complaints}")
    if not compiler.clang:
        missing = unreached(compiler.include, [text])
        for header, line, reached in [("operators.h", "operator+(", True), ("operators.h", "operator*=(", False)]:
            source = pathlib.Path(compiler.include, "tlaloc", "lang", header).read_text().splitlines()
            at = next(n for n, text in enumerate(source, 1) if line in text and text.endswith("= delete;"))
            if any(m.startswith(f"{header}:{at}:") for m in missing) == reached:
                failures += 1
                print(f"self-test: {header}:{at} should be {'reached' if reached else 'missed'}")
    print(f"self-test: {len(planted) + 5} planted faults, {failures} failures")
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
    with tempfile.TemporaryDirectory() as folder:
        compilers = [Compiler(c, options.include, folder) for c in compilers]
        if options.self_test:
            sys.exit(1 if self_test(compilers[0]) else 0)
        sys.exit(1 if run(options.include, compilers, options.jobs, options.names, options.table) else 0)


if __name__ == "__main__":
    main()
