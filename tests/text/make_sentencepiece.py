#!/usr/bin/env python3
"""Writes goldens/sentencepiece.json: small vocabularies that the package sentencepiece trains, and its ids of texts.

usage: make_sentencepiece.py [OUT [TEXTS]]

Needs the packages sentencepiece, 0.2, and protobuf (`pip install sentencepiece protobuf`). What is trained on is a license that every Debian has,
and words of random_texts.py. check_sentencepiece.py takes any file that this writes, so also one with thousands of texts.
"""

import io
import json
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import sentencepiece  # noqa: E402
from random_texts import WORDS, Texts  # noqa: E402
from sentencepiece import sentencepiece_model_pb2  # noqa: E402

LICENSE = pathlib.Path("/usr/share/common-licenses/GPL-3")
SPACE = "\u2581"
KINDS = {
    "llama": {"byte_fallback": True},
    "gemma": {"byte_fallback": True, "add_dummy_prefix": False,
              "user_defined_symbols": [SPACE * n for n in range(2, 6)] + ["\n", "\n\n", "<unused0>", "<h1>"]},
    "unknown": {"byte_fallback": False},
    "scores": {"byte_fallback": True},
}
# Doubled letters have tokens that are made in several ways, of the same score.
DOUBLED = ["aaaa aaaaa aaa aaaaaaa", "oooo=====oooo==oooooo", "-------- ---- ------------"]
FIXED = ["", " ", "  ", "a", " a", "  a  b ", "\n", " \n\n a", "\u2581", "a\u2581b", "<0x41>", "x<h1>y <unused0>  z",
         "na\u00efve \U0001f600\u200d", "\u4f60\u597d \u4e16\u754c"] + DOUBLED


def with_few_scores(model):
    """Training gives scores by id. Here they are any, and many are the same."""
    proto = sentencepiece_model_pb2.ModelProto.FromString(model)
    r = random.Random(5)
    for piece in proto.pieces:
        if piece.type == piece.NORMAL:
            piece.score = r.randrange(-12, 4) / 4
    return proto.SerializeToString()


def train(kind, options, sentences):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, model_type="bpe", vocab_size=760, hard_vocab_limit=False,
        normalization_rule_name="identity", remove_extra_whitespaces=False, allow_whitespace_only_pieces=True,
        character_coverage=0.999, minloglevel=2, num_threads=1, **options)
    proto = with_few_scores(model.getvalue()) if kind == "scores" else model.getvalue()
    return sentencepiece.SentencePieceProcessor(model_proto=proto)


def type_of(m, i):
    for kind, is_kind in ((2, m.is_unknown), (3, m.is_control), (5, m.is_unused), (6, m.is_byte)):
        if is_kind(i):
            return kind
    return 1


def golden(kind, options, seed, count):
    lines = LICENSE.read_text().split("\n")
    texts = Texts(seed, newer=False)
    m = train(kind, options, [line for line in lines if line] + [" ".join(WORDS)] * 20 + DOUBLED * 20)
    symbols = options.get("user_defined_symbols", [])
    pieces = [m.id_to_piece(i) for i in range(m.get_piece_size())]
    strings = FIXED + [texts.text() for _ in range(count)]
    if symbols:
        # GGUF files have what users defined with spaces, which SPACE in a text is none of.
        strings = [s for s in strings if SPACE not in s]
    ids = [m.encode(s) for s in strings]
    decoded = [m.decode(i) for i in ids]
    return {
        # As llama.cpp writes them: what users have defined has spaces.
        "tokens": [p.replace(SPACE, " ") if p in symbols else p for p in pieces],
        "scores": [m.get_score(i) for i in range(len(pieces))],
        "types": [4 if p in symbols else type_of(m, i) for i, p in enumerate(pieces)],
        "add_space_prefix": options.get("add_dummy_prefix", True),
        "texts": strings,
        "ids": ids,
        # Null where it is the text. What is unknown has another text in other programs.
        "decoded": [None if d == s or m.unk_id() in i else d for s, i, d in zip(strings, ids, decoded)],
    }


def main():
    out = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "goldens/sentencepiece.json"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    data = {kind: golden(kind, options, seed, count) for seed, (kind, options) in enumerate(KINDS.items())}
    out.write_text(json.dumps(data, ensure_ascii=True, separators=(",", ":"), indent=None).replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    main()
