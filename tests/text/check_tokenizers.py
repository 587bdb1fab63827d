#!/usr/bin/env python3
"""Trains tokenizers of many kinds with the package tokenizers, and compares ids, offsets, masks and decoded text.

usage: check_tokenizers.py TEXT_TOKENIZE [STRINGS [SEED [NAME...]]]

Without STRINGS, ten thousand strings are shared by all tokenizers.
"""

import json
import pathlib
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from random_texts import Texts  # noqa: E402
from tokenizers import Tokenizer  # noqa: E402
import tokenizers_to_check as kinds  # noqa: E402

FIXED = ["", " ", "a", "Hello, world!", "\n", "  leading and trailing  ", "a  12 x²3", "I'll 's 'S", "日本語 テスト", "e\u0301",
         "x" * 300, " " * 300, "ab" * 500, "<s>", "don't\r\n\r\n  stop", "\u0130", "12345678", "\u1100\u1161\u11a8",
         "\u200b\u200bx e\u0301", "a\u00ad\u00adb s\u0301\r\n", "s\u200ds \u00adﬃ \u00b4é"]


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        self.at += 4
        return struct.unpack_from("<I", self.data, self.at - 4)[0]

    def text(self):
        n = self.number()
        self.at += n
        return self.data[self.at - n:self.at].decode("utf-8")

    def encoding(self):
        n = self.number()
        rows = list(struct.iter_unpack("<6I", self.data[self.at:self.at + 24 * n]))
        self.at += 24 * n
        return rows, [self.encoding() for _ in range(self.number())]


def expected(e):
    rows = [(i, *o, t, a, s) for i, o, t, a, s in
            zip(e.ids, e.offsets, e.type_ids, e.attention_mask, e.special_tokens_mask)]
    return rows, [expected(o) for o in e.overflowing]


def run(program, path, strings, texts=1):
    data = struct.pack("<I", texts) + b"".join(struct.pack("<I", len(b)) + b for b in (s.encode() for s in strings))
    done = subprocess.run([program, path], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return Reader(done.stdout)


def compare(program, path, tokenizer, strings, texts=1):
    """What differs: pairs of a string and a description."""
    out = run(program, path, strings, texts)
    differences = []
    for i in range(0, len(strings), texts):
        want = tokenizer.encode(*strings[i:i + texts])
        got = out.encoding()
        shown = strings[i] if texts == 1 else strings[i:i + texts]
        if got != expected(want):
            differences.append((shown, f"tokens {got}\n  expected {expected(want)}"))
        differences += [(shown, what) for what in compare_text(out, tokenizer, want.ids)]
    return differences


def compare_text(out, tokenizer, ids):
    for skip in (False, True):
        decoded, streamed, right = out.text(), out.text(), tokenizer.decode(ids, skip_special_tokens=skip)
        if decoded != right:
            yield f"decoded {decoded!r}\n  expected {right!r}"
        # Bytes that are no character take those before them along, which a stream has given already.
        if streamed != decoded and not ("ByteFallback" in tokenizer.to_str() and "\ufffd" in decoded):
            yield f"streamed {streamed!r}\n  expected {decoded!r}"


def compare_ids(program, path, tokenizer, lists):
    """The same for ids as models make them, of which no text need have become any."""
    strings = [struct.pack(f"<{len(ids)}I", *ids) for ids in lists]
    data = struct.pack("<I", 0) + b"".join(struct.pack("<I", len(s)) + s for s in strings)
    done = subprocess.run([program, path], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    out = Reader(done.stdout)
    return [(ids, what) for ids in lists for what in compare_text(out, tokenizer, ids)]


def can_encode(tokenizer, pair):
    try:
        tokenizer.encode(*pair)
        return True
    except Exception:  # what the package raises for a truncation that can't be
        return False


def exchange(vocab):
    """Of two tokens that most texts have, each gets the id of the other."""
    names = list(vocab) if isinstance(vocab, dict) else [token for token, _ in vocab]
    first, second = [t for t in ("e", "t", "a", "▁", "the") if t in names][:2]
    if isinstance(vocab, dict):
        vocab[first], vocab[second] = vocab[second], vocab[first]
    else:
        i, k = names.index(first), names.index(second)
        vocab[i], vocab[k] = vocab[k], vocab[i]


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10000 // len(kinds.ALL)
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    texts = kinds.corpus(pathlib.Path(__file__).parents[2] / "docs")
    failures = total = 0
    for make in kinds.ALL:
        if sys.argv[4:] and make.__name__ not in sys.argv[4:]:
            continue
        tokenizer = make(texts)
        described = json.loads(tokenizer.to_str())
        specials = [t["content"] for t in described["added_tokens"]]
        random = Texts(f"{make.__name__} {seed}", specials, newer=make not in kinds.OLD_UNICODE)
        strings = FIXED + [random.text() for _ in range(count)]
        pairs = [random.text() for _ in range(2 * (count // 10))]
        if make is kinds.bert_cased:  # only_first needs as much of the first text as must go
            pairs = [s for pair in zip(pairs[::2], pairs[1::2]) if can_encode(tokenizer, pair) for s in pair]
            assert len(pairs) > count // 20
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/tokenizer.json"
            tokenizer.save(path)
            differences = compare(program, path, tokenizer, strings) + compare(program, path, tokenizer, pairs, 2)
            draw = random.random
            lists = [[draw.randrange(tokenizer.get_vocab_size() + 3) for _ in range(draw.randrange(40))]
                     for _ in range(count // 2)]
            differences += compare_ids(program, path, tokenizer, lists)
            total += len(strings) + len(pairs) // 2
            # Negative control: with two tokens exchanged it must not pass.
            vocab = described["model"]["vocab"]
            exchange(vocab)
            pathlib.Path(path).write_text(json.dumps(described))
            if not compare(program, path, tokenizer, strings[:200]):
                differences.append(("", "exchanged tokens are not noticed"))
        for string, what in differences[:3]:
            print(f"{make.__name__}: {string!r}: {what}")
        if differences:
            failures += 1
            print(f"{make.__name__}: {len(differences)} of {len(strings)} differ")
    print(f"{total} strings, {failures} tokenizers failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
