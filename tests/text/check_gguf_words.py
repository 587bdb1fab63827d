#!/usr/bin/env python3
"""Words split as `tokenizer.ggml.pre` names it: `tlaloc tokenize` with a small GGUF file beside the package tokenizers,
with what llama.cpp's source says of the names, which make_gguf_words.py wrote.

usage: check_gguf_words.py COMMAND GOLDEN
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import gguf  # noqa: E402
from check_sentencepiece import differences, run  # noqa: E402
from random_texts import WORDS, Texts  # noqa: E402
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers  # noqa: E402

# Of a model's makers, where llama.cpp has it letter by letter.
CONTRACTIONS = {"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])": "(?i:'s|'t|'re|'ve|'m|'ll|'d)"}
# What llama.cpp leaves to the models' files, or doesn't do.
COMPOSED = ("qwen2", "deepseek-r1-qwen", "qwen35")
CODE = ["1234567 12345 a1234b", "你好。ㄅㄆ안녕", "\\r\n!!\r\n\n", "ab cd ef\u0301 gh", "re\u0301sume\u0301", "a'sabc 'sabc",
        "x\n\n\ny \n\n z", "a;\n// b;\n\n/* c */", "x.\n/y!\r\n//", "HTTPServer getName XMLs ÉtÉ"]
NUMBERS = ["7" * n + after for n in range(1, 41) for after in ("", " ", "a", ".5", "_", "\u0663", "\u00b2", "\u4e2d", "\u0301")]
BOS = 0


def splits_of(golden, name):
    """What makes names different: patterns, and what they say beside them."""
    n = golden["names"][name]
    patterns = golden["patterns"][n["type"]]
    for own, makers in CONTRACTIONS.items():
        patterns = [p.replace(own, makers) for p in patterns]
    return json.dumps([patterns, n["ignore_merges"], n["add_bos"], name in COMPOSED])


def reference(splits, vocab, merges):
    patterns, ignore_merges, add_bos, composed = json.loads(splits)
    t = Tokenizer(models.BPE(vocab=vocab, merges=merges, ignore_merges=ignore_merges))
    words = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    t.pre_tokenizer = pre_tokenizers.Sequence([*words, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    if composed:
        t.normalizer = normalizers.NFC()
    if add_bos:
        bos = t.id_to_token(BOS)
        t.post_processor = processors.TemplateProcessing(single=f"{bos} $A", special_tokens=[(bos, BOS)])
    t.decoder = decoders.ByteLevel()
    return t


def trained():
    """A vocabulary and merges of whole texts, so that tokens would go over the ends of words."""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    texts = Texts(8, newer=False)
    trainer = trainers.BpeTrainer(vocab_size=2500, show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    t.train_from_iterator([" ".join(WORDS)] * 3 + CODE * 30 + [texts.text() for _ in range(1500)], trainer)
    model = json.loads(t.to_str())["model"]
    # Without some merges there are words that only their being tokens makes whole.
    return model["vocab"], [tuple(m) for i, m in enumerate(model["merges"]) if i % 9]


def write(path, pre, tokens, merges):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types([1] * len(tokens))
    writer.add_token_merges([" ".join(m) for m in merges])
    writer.add_bos_token_id(BOS)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def supported(command, path):
    """The names that there are, from the message for one that is not."""
    done = subprocess.run([command, "tokenize", "--model", path, "--jsonl"], input=b"", stderr=subprocess.PIPE)
    return re.search(r"supported: (.*?);", done.stderr.decode())[1].split(", ")


def main():
    golden = json.loads(pathlib.Path(sys.argv[2]).read_text())
    vocab, merges = trained()
    tokens = sorted(vocab, key=vocab.get)
    random = Texts(9, newer=False)
    texts = CODE + NUMBERS + [random.text() for _ in range(500)]
    wrong, rows, told = 0, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "x.gguf")
        write(path, "none", tokens, merges)
        for name in supported(sys.argv[1], path):
            rows.setdefault(splits_of(golden, name), []).append(name)
        for splits, names in rows.items():
            t = reference(splits, vocab, merges)
            want = [e.ids for e in t.encode_batch(texts)]
            told.setdefault(json.dumps(want), []).append(names)
            for pre in names:
                some = len(texts) if pre == names[0] else 40
                write(path, pre, tokens, merges)
                got = [line["ids"] for line in run(sys.argv[1], path, texts[:some])]
                wrong += differences(pre, texts[:some], got, want[:some], run(sys.argv[1], path, want[:some], "--decode"),
                                     [t.decode(ids, skip_special_tokens=False) for ids in want[:some]])
    # Each way of splitting shows in these texts, but that Bailing's says the same as Hunyuan's.
    if len(told) != len(rows) - 1:
        wrong += 1
        print(f"names with the same tokens: {[names for names in told.values() if len(names) > 1]}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
