#!/usr/bin/env python3
"""Converses with SmolLM2-135M-Instruct by `tlaloc chat` through a pipe.

usage: check_chat.py COMMAND MODEL
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

QUESTION, ANSWER = "What is the capital of France?", "The capital of France is Paris."
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def command(*arguments):
    return [sys.argv[1], "chat", "--model", sys.argv[2], *map(str, arguments)]


def run(lines, *arguments, error=""):
    done = subprocess.run(command(*arguments), input="\n".join(lines) + "\n", capture_output=True, encoding="utf-8",
                          timeout=300)
    expect((done.returncode != 0) == bool(error) and error in done.stderr, f"{lines} {arguments}: {done}")
    return done


def check_pipe(folder):
    saved = folder / "saved.json"
    done = run([QUESTION, "", f"/save {saved}", "And of Italy?", "/set top-k 4", "/set", "/reset", QUESTION], "--timings")
    lines = done.stdout.splitlines()
    expect(lines[0] == ANSWER and "Rome" in lines[1] and lines[-1] == ANSWER, done)
    expect("temperature 0" in lines and "top_k 4" in lines, done)
    messages = json.loads(saved.read_text(encoding="utf-8"))
    expect(messages == [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}], messages)
    # Of the second prompt all that the model has seen is kept: the first, and the answer but for its last token.
    reports = re.findall(r"\[(\d+) tokens.*prompt of (\d+) tokens, (\d+) of them kept; context (\d+) of 8192", done.stderr)
    expect(len(reports) == 3 and reports[0] == ("8", "37", "0", "45") and reports[1][2] == "44", reports)

    # A conversation that goes on, in one message of several lines.
    done = run(['"""And', 'of Italy?"""', f"/save {saved}"], "--messages", saved, "--max-tokens", 1, "--timings")
    messages = json.loads(saved.read_text(encoding="utf-8"))
    expect([m["role"] for m in messages] == ["user", "assistant"] * 2, messages)
    expect(messages[2]["content"] == "And\nof Italy?", messages)
    expect("; ended by max_tokens]" in done.stderr, done)
    done = run(["Hello \\", "you", "/system Be brief.", " /reset", f"/save {saved}"], "--system", "Be kind.",
               "--max-tokens", 1)
    messages = json.loads(saved.read_text(encoding="utf-8"))
    expect(messages[0] == {"role": "system", "content": "Be brief."}, messages)
    expect([m["content"] for m in messages[1::2]] == ["Hello \nyou", " /reset"], messages)

    # Another answer to the same message; a seed gives the same ones.
    hot = ("--temperature", 1.5, "--max-tokens", 8, "--seed", 5)
    first = run(["Tell me a story.", "/retry"], *hot).stdout.splitlines()
    again = run(["Tell me a story.", "/retry", "/set seed 5", "/retry"], *hot).stdout.splitlines()
    expect(first == again[:len(first)] and first[0] != first[-1], (first, again))
    expect(again[-1] == again[0], again)


def check_refusals():
    run(["/nothing"], error="TL-GENERATE-004: tlaloc: there is no command '/nothing'")
    run(["/retry"], error="TL-GENERATE-004: tlaloc: there is no answer yet")
    run(["/retry"], "--messages", '[{"content": "Hello"}]', error="TL-GENERATE-004: tlaloc: message 1 of --messages has no role")
    run(["/retry"], "--messages", '[{"role": "user", "content": "Hello"}]', error="TL-GENERATE-004: tlaloc: there is no answer yet")
    run(["/retry"], "--context", 2, "--messages", '[{"role": "assistant", "content": "Hello"}]', error="TL-LLM-004")
    run(["/set temperature hot"], error="'hot' is no value of temperature")
    run(["/set temperature -1"], error="TL-SAMPLE-001")
    run(["/set colour 1"], error="there is no setting 'colour'")
    run(["/set max_tokens -1"], error="max_tokens is negative")
    run(["/load no/such/file"], error="TL-FILE-001")
    run(["word " * 60], "--context", 50, error="TL-LLM-004")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_pipe(pathlib.Path(folder))
    check_refusals()
    print("\n".join(map(str, failures)) or "all as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
