#!/usr/bin/env python3
"""Vocabularies of the kind llama in GGUF files: `tlaloc tokenize` beside SentencePiece, which made the goldens, and beside
the package tokenizers with what Llama 2's and Phi-3's tokenizer.json say.

usage: check_sentencepiece.py COMMAND GOLDENS
"""

import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import gguf  # noqa: E402
from random_texts import Texts  # noqa: E402
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers  # noqa: E402

SPACE = "\u2581"


def write(path, v, name="tiny", tokens=None, types=None, explicit=True):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(name)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens or v["tokens"])
    writer.add_token_scores(v["scores"])
    writer.add_token_types(types or v["types"])
    if explicit:
        writer.add_add_bos_token(False)
        writer.add_add_space_prefix(v["add_space_prefix"])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def run(command, model, lines, *options):
    done = subprocess.run([command, "tokenize", "--model", model, "--jsonl", *options],
                          input="".join(json.dumps(line) + "\n" for line in lines).encode(),
                          stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.decode().split("\n") if line]


def differences(name, texts, got, want, decoded, want_decoded):
    wrong = [i for i in range(len(texts)) if got[i] != want[i] or decoded[i] != want_decoded[i]]
    for i in wrong[:3]:
        print(f"{name}: {texts[i]!r}: {got[i]} {decoded[i]!r}, expected {want[i]} {want_decoded[i]!r}")
    print(f"{name}: {len(texts)} strings, {len(wrong)} differ")
    return len(wrong)


def beside_sentencepiece(command, path, name, v):
    write(path, v)
    got = [line["ids"] for line in run(command, path, v["texts"])]
    unknown = v["types"].index(2)
    decoded = run(command, path, v["ids"], "--decode")
    want = [text if d is None else d for text, d in zip(v["texts"], v["decoded"])]
    want = [d if unknown in ids else w for w, d, ids in zip(want, decoded, v["ids"])]
    return differences(name, v["texts"], got, v["ids"], decoded, want)


def reference(tokens, types, scores, rstrip):
    """The package's model with the merges that transformers makes of scores."""
    vocab = {t: i for i, t in enumerate(tokens)}
    merges = []
    for token, i in vocab.items():
        if types[i] == 1:
            pairs = [(vocab[token[:k]], vocab[token[k:]]) for k in range(1, len(token)) if token[:k] in vocab and token[k:] in vocab]
            merges += [(scores[i], tokens[a], tokens[b]) for a, b in sorted(pairs, reverse=True)]
    merges.sort(key=lambda m: m[0], reverse=True)
    t = Tokenizer(models.BPE(vocab=vocab, merges=[m[1:] for m in merges], unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])
    t.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(),
                                   decoders.Strip(" ", 1, 0)])
    plain = ("<unk>", "<s>")
    t.add_tokens([AddedToken(s, normalized=False, special=k in (2, 3), rstrip=rstrip and s not in plain)
                  for s, k in zip(tokens, types) if k in (2, 3, 4)])
    return t


def beside_tokenizers(command, path, v, name, rstrip):
    """With markers of chats, which take the places of the last tokens."""
    tokens, types = list(v["tokens"]), list(v["types"])
    markers = {"<|user|>": 3, "<|end|>": 3, "[INST]": 4}
    for i, (marker, kind) in enumerate(markers.items()):
        tokens[-1 - i], types[-1 - i] = marker, kind
    write(path, v, name, tokens, types, explicit=False)
    t = reference(tokens, types, v["scores"], rstrip)
    random = Texts(3, [*markers, "<s>", "</s>", "<|user|>\n"], newer=False)
    texts = ["", "a", "<|user|>\n hi<|end|>\n<|user|>", "<s> hi</s>  x"] + [random.text() for _ in range(1500)]
    want = [[1] + t.encode(text).ids for text in texts]
    lists = want + [[random.random.randrange(len(tokens)) for _ in range(12)] for _ in range(300)]
    got = [line["ids"] for line in run(command, path, texts)]
    decoded = run(command, path, lists, "--decode")
    wanted = [t.decode(ids, skip_special_tokens=False) for ids in lists]
    texts += [""] * 300
    return differences(name, texts, got + lists[len(got):], lists, decoded, wanted)


def main():
    command, goldens = sys.argv[1:]
    data = json.loads(pathlib.Path(goldens).read_text())
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "x.gguf")
        wrong = sum(beside_sentencepiece(command, path, kind, v) for kind, v in data.items())
        wrong += beside_tokenizers(command, path, data["llama"], "Llama 2", False)
        wrong += beside_tokenizers(command, path, data["llama"], "Phi-3 mini", True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
