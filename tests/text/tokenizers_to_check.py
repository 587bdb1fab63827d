"""Tokenizers of the kinds that models have, trained on a small text."""

import json
import pathlib
import unicodedata

from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors,
                        trainers)

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace("{1,3}", "")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
            r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def corpus(root):
    texts = [p.read_text(encoding="utf-8") for p in sorted(pathlib.Path(root).glob("**/*.md")) if ".venv" not in p.parts]
    extra = "Größe naïve 你好世界 こんにちは Привет мир 안녕하세요 ½ ² 😀 e\u0301 " * 20
    return texts + [extra]


def byte_level(texts, steps, normalizer=None, size=1200, **model):
    t = Tokenizer(models.BPE(**model))
    t.pre_tokenizer = pre_tokenizers.Sequence(steps) if len(steps) > 1 else steps[0]
    if normalizer:
        t.normalizer = normalizer
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, show_progress=False,
                                                     initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    return t


def split(pattern, behavior="isolated"):
    return pre_tokenizers.Split(Regex(pattern), behavior)


def plain():
    return pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)


def special(t, *contents, **flags):
    t.add_special_tokens([AddedToken(c, special=True, normalized=False, **flags) for c in contents])


def gpt2(texts):
    t = byte_level(texts, [pre_tokenizers.ByteLevel(add_prefix_space=False)])
    t.post_processor = processors.ByteLevel(trim_offsets=True)
    special(t, "<|endoftext|>")
    return t


def roberta(texts):
    t = byte_level(texts, [pre_tokenizers.ByteLevel(add_prefix_space=True)])
    special(t, "<s>", "</s>")
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True, normalized=False)])
    t.post_processor = processors.RobertaProcessing(("</s>", t.token_to_id("</s>")), ("<s>", t.token_to_id("<s>")))
    t.enable_truncation(24, stride=3)
    t.enable_padding(length=12, pad_id=0, direction="left")
    return t


def llama3(texts):
    t = byte_level(texts, [split(LLAMA3), plain()], ignore_merges=True)
    special(t, "<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>")
    t.post_processor = processors.Sequence([
        processors.ByteLevel(trim_offsets=False),
        processors.TemplateProcessing(single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1",
                                      special_tokens=[("<|begin_of_text|>", t.token_to_id("<|begin_of_text|>"))])])
    return t


def qwen2(texts):
    t = byte_level(texts, [split(QWEN2), plain()], normalizers.NFC())
    special(t, "<|im_start|>", "<|im_end|>")
    t.add_tokens([AddedToken("<tool_call>", normalized=False), AddedToken("naïve", normalized=True)])
    return t


def smollm(texts):
    t = byte_level(texts, [pre_tokenizers.Digits(individual_digits=True),
                           pre_tokenizers.ByteLevel(add_prefix_space=False)])
    special(t, "<|im_start|>", "<|im_end|>", "<|endoftext|>")
    t.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=False)
    return t


def o200k(texts):
    return byte_level(texts, [split(O200K), plain()])


def deepseek(texts):
    return byte_level(texts, [split(r"\p{N}{1,3}"), split(r"[一-龥぀-ゟ゠-ヿ]+"), split(DEEPSEEK), plain()])


def falcon(texts):
    return byte_level(texts, [pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(add_prefix_space=False),
                              pre_tokenizers.Digits(individual_digits=False), split("[0-9][0-9][0-9]")])


def few_bytes(texts):
    """Without a token for each byte, and with one for what is unknown."""
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(texts[:3], trainers.BpeTrainer(vocab_size=300, special_tokens=["<unk>"], show_progress=False))
    return t


def llama2(texts):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    fallback = [f"<0x{b:02X}>" for b in range(256)]
    words = [w for text in texts for w in text.split(" ")]
    t.train_from_iterator(words, trainers.BpeTrainer(vocab_size=1200, special_tokens=["<unk>", "<s>", "</s>"] + fallback,
                                                     show_progress=False))
    described = json.loads(t.to_str())
    described["added_tokens"] = [a for a in described["added_tokens"] if not a["content"].startswith("<0x")]
    t = Tokenizer.from_str(json.dumps(described))
    t.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                   decoders.Strip(" ", 1, 0)])
    t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", 1)])
    return t


def metaspace_bpe(texts):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False))
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=True)
    t.decoder = decoders.Metaspace(prepend_scheme="first")
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=800, special_tokens=["<unk>"], show_progress=False,
                                                     limit_alphabet=60))
    t.add_tokens([AddedToken("people", single_word=True), AddedToken("water", lstrip=True, rstrip=True)])
    return t


def clip(texts):
    t = Tokenizer(models.BPE(unk_token="<|unk|>", end_of_word_suffix="</w>", continuing_subword_prefix=""))
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "),
                                         normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence([split(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"),
                                               pre_tokenizers.WhitespaceSplit()])
    t.decoder = decoders.BPEDecoder(suffix="</w>")
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=800, special_tokens=["<|unk|>"], show_progress=False,
                                                     end_of_word_suffix="</w>", limit_alphabet=80))
    return t


def unigram(texts, byte_fallback=False, normalizer=None):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizer or normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(),
                                                       normalizers.Replace(Regex(" {2,}"), " ")])
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    t.decoder = decoders.Metaspace(prepend_scheme="always")
    fallback = [f"<0x{b:02X}>" for b in range(256)] if byte_fallback else []
    t.train_from_iterator(texts, trainers.UnigramTrainer(vocab_size=900, show_progress=False, unk_token="<unk>",
                                                         special_tokens=["<unk>", "<s>", "</s>"] + fallback))
    if byte_fallback:
        described = json.loads(t.to_str())
        described["model"]["byte_fallback"] = True
        described["added_tokens"] = [a for a in described["added_tokens"] if not a["content"].startswith("<0x")]
        t = Tokenizer.from_str(json.dumps(described))
        t.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="always")])
    return t


def charsmap(rules):
    """SentencePiece's compiled form of rules: a trie as a double array, and the texts that its values point to."""
    texts, trie = bytearray(), {}
    for key, text in rules.items():
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = len(texts)
        texts += text.encode() + b"\0"
    units, nodes, first_free = {0: 0}, [(0, trie)], 1
    for at, node in nodes:
        base = first_free = next(i for i in range(first_free, 1 << 21) if i not in units)
        while any(base ^ label in units for label in node):
            base += 1
        units[at] |= (at ^ base) << 10 | (0 in node) << 8
        for label, child in node.items():
            units[base ^ label] = label or child | 1 << 31
            if label:
                nodes.append((base ^ label, child))
    array = b"".join(units.get(i, 0).to_bytes(4, "little") for i in range(max(units) + 256))
    return len(array).to_bytes(4, "little") + array + bytes(texts)


def compiled_rules():
    """NFKC of single characters and of letters with an accent, what is left out, and a rule that graphemes begin with."""
    rules = {chr(c): n for c in range(0xA0, 0xFFFF) if not 0xD800 <= c < 0xE000 and c not in range(0xAC00, 0xD7A4)
             for n in [unicodedata.normalize("NFKC", chr(c))] if n != chr(c)}
    for letter in "aeioucnAEIOU":
        for mark in "\u0300\u0301\u0302\u0308\u0327":
            rules[letter + mark] = unicodedata.normalize("NFKC", letter + mark)
    return {**rules, "\u200b": "", "\u00ad": "", "\r\n": " ", "\t": " ", "\n": " ", "s": "S", "é": "e\u0301\u0301", "語": "go"}


def unigram_compiled(texts):
    return unigram(texts, normalizer=normalizers.Sequence([normalizers.Precompiled(charsmap(compiled_rules())),
                                                           normalizers.Replace(Regex(" {2,}"), " ")]))


def unigram_bytes(texts):
    return unigram(texts, True, normalizers.Sequence([normalizers.NFKD(), normalizers.StripAccents(),
                                                      normalizers.Strip()]))


def bert(texts, lowercase=True):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.decoder = decoders.WordPiece()
    t.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=1500, show_progress=False, limit_alphabet=200,
                                                           special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]"]))
    t.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    t.enable_truncation(40, stride=5, direction="left")
    return t


def bert_cased(texts):
    t = bert(texts, lowercase=False)
    t.enable_truncation(30, strategy="only_first")
    t.enable_padding(pad_to_multiple_of=8, pad_id=0)
    return t


def wordlevel(texts):
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    t.train_from_iterator(texts, trainers.WordLevelTrainer(vocab_size=1000, special_tokens=["[UNK]"], show_progress=False))
    return t


def behaviors(texts):
    """Every way to split, one after the other."""
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.normalizer = normalizers.Strip(left=True, right=False)
    t.pre_tokenizer = pre_tokenizers.Sequence([
        split(r"\d+", "merged_with_previous"), split(r"[aeiou]", "merged_with_next"), pre_tokenizers.CharDelimiterSplit("t"),
        pre_tokenizers.Split(Regex(r"\w+|[^\w\s]+"), "removed", invert=True), pre_tokenizers.FixedLength(3)])
    t.train_from_iterator(texts, trainers.WordLevelTrainer(vocab_size=500, special_tokens=["[UNK]"], show_progress=False))
    return t


def scripts(texts):
    """Each piece is a token, so that ids and offsets show where it is cut."""
    t = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    t.pre_tokenizer = pre_tokenizers.UnicodeScripts()
    t.train_from_iterator(texts, trainers.WordLevelTrainer(vocab_size=500, special_tokens=["[UNK]"], show_progress=False))
    return t


ALL = [gpt2, roberta, llama3, qwen2, smollm, o200k, deepseek, falcon, few_bytes, llama2, metaspace_bpe, clip, unigram,
       unigram_compiled, unigram_bytes, bert, bert_cased, wordlevel, behaviors,
       scripts]
# Their patterns have properties of which PCRE2 knows those of Unicode 14, or their graphemes are utf8proc's.
OLD_UNICODE = {o200k, deepseek, behaviors, unigram_compiled}
