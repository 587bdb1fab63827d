#!/usr/bin/env python3
"""Runs `tlaloc generate` on SmolLM2-135M-Instruct.

usage: check_generate.py COMMAND MODEL
"""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

# What transformers 5.24 makes of the same file in f32: greedy tokens, going on behind end tokens.
PLAIN = ("The capital of France is", [504, 3575, 282, 4649, 314],
         [7042, 30, 198, 198, 504, 2988, 314, 42, 216, 34, 32, 33, 40, 29, 32, 33, 29, 34, 34, 216, 33, 34, 42, 33, 34, 42,
          37, 35, 30, 2, 198, 1])
CHAT = ("What is the capital of France?",
        [1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 3365, 3511, 308, 34519, 28, 7018, 411, 407, 19712, 8182, 2, 198,
         1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198],
        [504, 3575, 282, 4649, 314, 7042, 30, 2])
ANSWER = "The capital of France is Paris."
PHASE = re.compile(r"tlaloc: .* \.\.\.")
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def command(*arguments, model=None):
    return [sys.argv[1], "generate", "--model", model or sys.argv[2], *map(str, arguments)]


def run(*arguments, text=None, error="", model=None):
    """The output; with `error`, that the run fails with it."""
    done = subprocess.run(command(*arguments, model=model), input=text, capture_output=True, encoding="utf-8", timeout=300)
    expect((done.returncode != 0) == bool(error) and error in done.stderr, f"{arguments}: {done}")
    return done.stdout


def answer(*arguments, **keywords):
    return json.loads(run("--json", *arguments, **keywords) or "{}")


def check_answers():
    text, prompt, ids = PLAIN
    plain = answer("--raw", "--prompt", text, "--weights", "f32", "--ignore-end", "--max-tokens", 32)
    expect(plain["prompt_ids"] == prompt and plain["ids"] == ids, plain)
    expect(plain["finish_reason"] == "max_tokens" and "seed" not in plain, plain)

    question, prompt, ids = CHAT
    chat = answer("--prompt", question, "--logprobs", "--top-logits", 3)
    expect(chat["prompt_ids"] == prompt and chat["ids"] == ids, chat)
    expect(chat["text"] == ANSWER and chat["finish_reason"] == "end_token", chat)
    expect(len(chat["logprobs"]) == len(ids) and all(-2 < x <= 0 for x in chat["logprobs"]), chat["logprobs"])
    expect([step[0]["id"] for step in chat["top_logits"]] == ids, chat["top_logits"])
    expect(all(len(step) == 3 and step[0]["logit"] > step[1]["logit"] > step[2]["logit"] for step in chat["top_logits"]),
           chat["top_logits"])
    expect(chat["top_logits"][5][0]["text"] == " Paris", chat["top_logits"])
    timings = chat["timings"]
    expect(timings["prompt_tokens"] == len(prompt) and timings["decode_tokens"] == len(ids) - 1, timings)
    expect(all(timings[key] > 0 for key in ("load_seconds", "prompt_seconds", "decode_tokens_per_second")), timings)

    # What is read in place, made from others, and packed for products. In f32 matrices are decoded.
    weights = chat["weights"]
    expect(weights["mapped_bytes"] > 9e7 and weights["decoded_bytes"] < 1e6, weights)
    expect(weights["mapped_bytes"] / 2 < weights["packed_bytes"] < 2 * weights["mapped_bytes"], weights)
    expect(plain["weights"]["mapped_bytes"] < 1e6 and plain["weights"]["decoded_bytes"] > 5e8, plain["weights"])

    # A question is a user's message, whichever way it comes.
    expect(run(text=question + "\n") == ANSWER + "\n", "a question from standard input")
    messages = [{"role": "user", "content": question}]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "messages.json")
        file.write_text(json.dumps(messages), encoding="utf-8")
        for given in (json.dumps(messages), file):
            told = answer("--messages", given, "--max-tokens", 1)
            expect(told["prompt_ids"] == prompt, told)
    system = answer("--system", "You are a poet.", "--prompt", question, "--max-tokens", 1)
    expect(system["prompt_ids"][:6] == [1, 9690, 198, 2683, 359, 253] and system["prompt_ids"] != prompt, system)


def check_ends():
    stopped = answer("--prompt", CHAT[0], "--stop", "nowhere", "--stop", " is Par")
    expect(stopped["text"] == "The capital of France" and stopped["finish_reason"] == "stop_string", stopped)
    expect(stopped["stop_string"] == " is Par" and stopped["ids"] == CHAT[2][:6], stopped)
    full = answer("--prompt", CHAT[0], "--context", len(CHAT[1]) + 2)
    expect(full["finish_reason"] == "context" and full["ids"] == CHAT[2][:3], full)


def check_seeds():
    options = ("--prompt", "Tell me a story.", "--max-tokens", 12, "--temperature", 1.5, "--top-k", 50)
    first = answer(*options)
    again = answer(*options, "--seed", first["seed"])
    other = answer(*options, "--seed", 1)
    expect(again["ids"] == first["ids"] and other["ids"] != first["ids"], (first, again, other))


def check_filters():
    """Where one token is all that is left, what is random is greedy; what is barred does not come."""
    hot = ("--prompt", CHAT[0], "--temperature", 1.5, "--seed", 3, "--max-tokens", len(CHAT[2]))
    # Where other tokens of this text lie, which nobody would choose.
    loose = answer(*hot)
    expect(loose["ids"] != CHAT[2], loose)
    for one in (("--top-k", 1), ("--top-p", 0), ("--min-p", 1)):
        expect(answer(*hot, *one)["ids"] == CHAT[2], one)
    typical = answer(*hot, "--typical-p", 1e-9)
    expect(typical["ids"] != loose["ids"], typical)

    greedy = ("--prompt", CHAT[0], "--max-tokens", len(CHAT[2]))
    first = CHAT[2][0]
    barred = answer(*greedy, "--logit-bias", f"{first}=-inf", "--logit-bias", "2=5")
    expect(first not in barred["ids"], barred)
    for penalty in (("--repetition-penalty", 1e6), ("--presence-penalty", 1e6), ("--frequency-penalty", 1e6)):
        told = answer(*greedy, "--ignore-end", *penalty)
        expect(len(set(told["ids"])) == len(told["ids"]), (penalty, told))
        expect(told["ids"] != CHAT[2] or penalty[0] != "--repetition-penalty", told)  # that counts the prompt's, too


def check_interruption():
    process = subprocess.Popen(command("--raw", "--prompt", "Once upon a time", "--ignore-end"), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    begin = process.stdout.read(1)  # it comes while the model goes on
    time.sleep(0.3)
    expect(process.poll() is None, "the answer ended by itself")
    process.send_signal(signal.SIGINT)
    rest, error = process.communicate(timeout=60)
    text = (begin + rest).decode()
    # A slow machine is told which phase it is in, and nothing else.
    said = [line for line in error.decode().splitlines() if not PHASE.fullmatch(line)]
    expect(process.returncode == 130 and not said, (process.returncode, error))
    expect(len(text) > 5 and text.endswith("\n"), text)


def check_refusals():
    question = ("--prompt", "Hello")
    run(*question, "--context", 8, error="TL-LLM-004")
    run(*question, "--context", 100000, error="TL-LLM-002")
    run("--raw", "--prompt", "", error="TL-GENERATE-003: generate: the prompt has no tokens")
    run(*question, "--stop", "", error="TL-GENERATE-001: generate: a stop string is empty")
    run(*question, "--top-p", 2, error="TL-SAMPLE-001: sample: top_p is 2")
    run(*question, "--logit-bias", "5:1", error="TL-SAMPLE-001: tlaloc: '5:1' is no bias of a token")
    run(*question, "--logit-bias", "60000=1", error="TL-SAMPLE-001: sample: token 60000 has a bias, but no logit")
    run("--messages", "[1]", error="TL-GENERATE-004: tlaloc: --messages is no list of messages")
    run("--messages", '{"role": "user"}', error="TL-GENERATE-004: tlaloc: --messages is no list of messages")
    run("--messages", '[{"role": "user", "content": "a"}, {"content": "b"}]',
        error="TL-GENERATE-004: tlaloc: message 2 of --messages has no role")
    run("--messages", '[{"role": ', error="TL-JSON-001")
    run("--messages", "no/such/file", error="TL-FILE-001")
    run(*question, "--raw", "--chat", error="excludes")
    # Before a model is loaded, which takes a while.
    for wrong, error in ((("--temperature", "-1"), "TL-SAMPLE-001: sample: temperature is -1"),
                         (("--temperature", "nan"), "TL-SAMPLE-001: sample: temperature is nan"),
                         (("--stop", ""), "TL-GENERATE-001"), (("--logit-bias", "5"), "TL-SAMPLE-001")):
        run(*question, *wrong, model="no/such/model", error=error)
    run("--messages", "[1]", model="no/such/model", error="TL-GENERATE-004")
    run(*question, "--logprobs", error="--json")


def main():
    check_answers()
    check_ends()
    check_seeds()
    check_filters()
    check_interruption()
    check_refusals()
    print("\n".join(map(str, failures)) or "all as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
