#!/usr/bin/env python3
"""The tokenizer.json of all-MiniLM-L6-v2 (WordPiece) beside the package tokenizers: as it is, which cuts and pads texts to
128 tokens, and without either.

usage: check_minilm.py TEXT_TOKENIZE FILE
"""

import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from check_tokenizers import FIXED, compare, exchange  # noqa: E402
from random_texts import Texts  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402


def main():
    program, file = sys.argv[1:]
    described = json.loads(pathlib.Path(file).read_text())
    specials = [t["content"] for t in described["added_tokens"]]
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/tokenizer.json"

        def differences(strings, texts=1):
            pathlib.Path(path).write_text(json.dumps(described))
            return compare(program, path, tokenizer, strings, texts)

        for whole in (False, True):
            if whole:
                described["truncation"] = described["padding"] = None
            tokenizer = Tokenizer.from_str(json.dumps(described))
            random = Texts(f"minilm {whole}", specials)
            strings = FIXED + [random.text() for _ in range(700)] + ["of each of these words there is one more " * 40]
            wrong = differences(strings) + differences([random.text() for _ in range(200)], 2)
            for string, what in wrong[:3]:
                print(f"{string!r}: {what}")
            failures += len(wrong)
        # Known from the model, so that a file that is none is noticed.
        if tokenizer.encode("Hello, world!").ids != [101, 7592, 1010, 2088, 999, 102]:
            failures += 1
            print("this is not the tokenizer of all-MiniLM-L6-v2")
        # Negative control: with two tokens exchanged it must not pass.
        exchange(described["model"]["vocab"])
        if not differences(strings[:200]):
            failures += 1
            print("exchanged tokens are not noticed")
    print(f"MiniLM: {failures} differences")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
