#!/usr/bin/env python3
"""Renders templates with jinja2, set up as transformers does, and compares texts and generation blocks.

usage: check_templates.py TEXT_RENDER
"""

import datetime
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import jinja2  # noqa: E402
from jinja2.ext import Extension, loopcontrols  # noqa: E402
from jinja2.sandbox import ImmutableSandboxedEnvironment  # noqa: E402
import template_cases as cases  # noqa: E402
from template_families import FAMILIES  # noqa: E402

MARKS = "\ue000", "\ue001"  # around what generation blocks give


class Generation(Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_mark"), [], [], body).set_lineno(line)

    def _mark(self, caller):
        return MARKS[0] + caller() + MARKS[1]


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


def environment():
    env = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, loopcontrols])
    env.filters["tojson"] = lambda x, ensure_ascii=False, indent=None, separators=None, sort_keys=False: json.dumps(
        x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = datetime.datetime(2026, 11, 30, 8).strftime
    return env


def expected(env, template, variables):
    """The text and the generation blocks' bytes, or None for an error."""
    try:
        text = env.from_string(template).render(**variables)
    except Exception as e:  # what Python raises, of whatever kind
        return None, e
    plain, blocks = b"", []
    for part in text.replace(MARKS[1], MARKS[0]).split(MARKS[0]):
        blocks.append([len(plain), len(plain) + len(part.encode())])
        plain += part.encode()
    return (plain.decode(), blocks[1::2]), None


def main():
    env = environment()
    todo = [(t, {"messages": c, **v}) for t in cases.TEMPLATES + FAMILIES for c in cases.CHATS for v in cases.VARIABLES]
    values = {"x": 3, "s": "Hello World", "l": [3, 1, 2], "t": "  a b\n",
              "d": {"a": 1, "b": [1, 2], "n": {"m": "é"}, "items": "not a method"}}
    todo += [("{{ " + e.strip() + " }}", values) for line in cases.EXPRESSIONS.strip().splitlines() for e in line.split(" | ")]
    todo += [(t, values) for t in cases.SYNTAX]
    lines = "\n".join(json.dumps([t, v]) for t, v in todo) + "\n"
    done = subprocess.run([sys.argv[1]], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    results = [json.loads(line) for line in done.stdout.decode().split("\n") if line]
    if len(results) != len(todo):
        print(f"{len(results)} results for {len(todo)} templates")
        return 1
    failures = errors = 0
    for (template, variables), got in zip(todo, results):
        want, error = expected(env, template, variables)
        errors += want is None
        if want is None:
            right = "code" in got
        else:
            right = got.get("text") == want[0] and got.get("generations") == want[1]
        if not right:
            failures += 1
            print(f"{template[:300]!r} {str(variables)[:200]}\n  got      {got}\n  expected {want} {error!r}")
    rendered = {r["text"] for r in results if "text" in r}
    if len(rendered) < 200:
        failures += 1
        print("the templates give too few different texts for a test")
    print(f"{len(todo)} templates, of which {errors} are refused: {failures} differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
