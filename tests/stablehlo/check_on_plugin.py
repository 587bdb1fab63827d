#!/usr/bin/env python3
"""Runs check/*.mlir on a PJRT plugin: all pass but those that expected_failures.txt names for it, and those fail.

usage: check_on_plugin.py COMMAND PLUGIN FOLDER    FOLDER: where check/ and the list are
"""

import pathlib
import re
import subprocess
import sys


def expected_failures(path, plugin):
    """Functions as "FILE: NAME", each with its reason."""
    named = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            of, function, reason = (part.strip() for part in line.split("|"))
            if of == plugin:
                named[function] = reason
    return named


def main():
    command, plugin, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    modules = sorted((folder / "check").glob("*.mlir"))
    run = subprocess.run([command, "run", "--check", *modules, "--backend", f"pjrt:{plugin}"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    named = expected_failures(folder / "expected_failures.txt", plugin)
    outcomes = {function: word for word, function in re.findall(r"^(pass|FAIL) .*?/(\w+\.mlir: \w+)", run.stdout, re.M)}
    failures = [line for line in run.stdout.splitlines()
                if line.startswith("FAIL") and not any(f"/{function}: " in line for function in named)]
    failures += [f"{function} is expected to fail ({reason}), and {outcomes.get(function, 'is not there')}"
                 for function, reason in named.items() if outcomes.get(function) != "FAIL"]
    # Else nothing was run.
    if len(outcomes) < 150 or run.returncode not in (0, 1):
        failures.append(f"{len(outcomes)} functions, status {run.returncode}: {run.stderr}")
    print("\n".join(failures) or f"{len(outcomes)} functions, {len(named)} of them fail as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
