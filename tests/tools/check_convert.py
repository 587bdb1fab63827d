#!/usr/bin/env python3
"""Holds `tlaloc convert` against the packages gguf, safetensors and tokenizers, on small models.

usage: check_convert.py COMMAND
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import gguf
import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

TESTS = pathlib.Path(__file__).parent.parent
LLM = TESTS / "llm"
sys.path[:0] = [str(LLM), str(TESTS / "text")]
import check_gguf  # noqa: E402
import check_sentencepiece  # noqa: E402
from random_texts import Texts  # noqa: E402

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
TEXTS = ["Hello  world, it's 12345 x\u00b2", "\n\n\tDON'T you'LL  ", "\u0110a\u0300\u4f60\u597d \U0001f44d<s> a</s>", "the the then"]
TYPES = {"f32": gguf.GGMLQuantizationType.F32, "f16": gguf.GGMLQuantizationType.F16, "bf16": gguf.GGMLQuantizationType.BF16,
         "q8_0": gguf.GGMLQuantizationType.Q8_0, "q4_0": gguf.GGMLQuantizationType.Q4_0}
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def run(*arguments, text=None, error=""):
    done = subprocess.run([sys.argv[1], *map(str, arguments)], input=text, capture_output=True, encoding="utf-8")
    expect((done.returncode != 0) == bool(error) and error in done.stderr, f"{arguments}: {done}")
    return done.stdout


def folder_tensors(folder):
    """Bits of the tensors of a folder, by name."""
    with safe_open(folder / "model.safetensors", "numpy") as file:
        return {name: file.get_tensor(name) for name in file.keys()}


def write_golden(golden, folder):
    folder.mkdir()
    save_file({key: check_gguf.values(key, recipe) for key, recipe in golden["tensors"].items()}, folder / "model.safetensors",
              {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(golden["config"]))


def fields(reader):
    return {key: field.contents() for key, field in reader.fields.items() if not key.startswith("GGUF.")}


def check_family_to_gguf(name, golden, theirs, folder):
    """Keys and tensors are those that the package gguf wrote with llama.cpp's names, to the bit."""
    model, path = folder / f"{name}-model", folder / f"{name}-ours.gguf"
    write_golden(golden, model)
    run("convert", model, path)
    ours, wanted = gguf.GGUFReader(path), gguf.GGUFReader(theirs)
    got, due = fields(ours), fields(wanted)
    expect(all(got.get(key) == value for key, value in due.items()),
           f"{name}: {[(key, value, got.get(key)) for key, value in due.items() if got.get(key) != value]}")
    more = {key.split(".", 1)[1] for key in got.keys() - due.keys()}
    expect(more <= {"name", "file_type", "rope.dimension_count", "rope.scaling.yarn_beta_slow"}, f"{name}: {more}")
    got, due = ({t.name: t for t in reader.tensors} for reader in (ours, wanted))
    expect(got.keys() == due.keys(), f"{name}: {got.keys() ^ due.keys()}")
    for key in got.keys() & due.keys():
        same = got[key].tensor_type == due[key].tensor_type and got[key].data.tobytes() == due[key].data.tobytes()
        if key.startswith("rope_freqs"):  # computed here and there
            same = np.abs(got[key].data / due[key].data - 1).max() < 1e-6
        expect(same, f"{name}: {key}")


def check_families(folder):
    """Weights of each family come out of GGUF under transformers' names, in transformers' layout, and go in under llama.cpp's."""
    for name, (architecture, _) in check_gguf.MODELS.items():
        golden = json.loads((LLM / "goldens" / f"{name}.json").read_text())
        path, out = folder / f"{name}.gguf", folder / name
        check_gguf.write(golden, architecture, path)
        check_family_to_gguf(name, golden, path, folder)
        run("convert", path, out)
        got = folder_tensors(out) if out.exists() else {}
        wanted = {key: check_gguf.values(key, recipe) for key, recipe in golden["tensors"].items()}
        expect(got.keys() == wanted.keys(), f"{name}: {got.keys() ^ wanted.keys()}")
        for key in got.keys() & wanted.keys():
            # GGUF has 1 in Gemma's norms: what they were before is rounded.
            if architecture.startswith("gemma") and key.endswith("norm.weight"):
                wanted[key] = wanted[key] + np.float32(1) - np.float32(1)
            expect(np.array_equal(got[key], wanted[key]), f"{name}: {key}")
        config, given = json.loads((out / "config.json").read_text()), golden["config"]
        expect(config["architectures"] == given["architectures"] and config["torch_dtype"] == "float32", config)
        for key in given.keys() & config.keys() - {"architectures"}:
            expect(config[key] == given[key], f"{name}: {key} is {config[key]}, was {given[key]}")
        check_rope(name, config, given)


def check_rope(name, config, given):
    """What a configuration of transformers 4 says of positions is what one of 5 did."""
    rope = given["rope_parameters"]
    if given["model_type"] == "gemma3_text":
        expect(config["rope_local_base_freq"] == rope["sliding_attention"]["rope_theta"], name)
        rope = rope["full_attention"]
    expect(config["rope_theta"] == rope["rope_theta"], name)
    expect(config.get("partial_rotary_factor", 1) == rope.get("partial_rotary_factor", 1), name)
    scaling = dict(config.get("rope_scaling", {"rope_type": "default"}))
    kind = scaling.pop("rope_type", None) or scaling.pop("type")
    expect(kind == rope["rope_type"], f"{name}: {kind}")
    for key, value in scaling.items():
        expect(value == rope.get(key, {"beta_slow": 1.0}.get(key)), f"{name}: {key} is {value} in {scaling}")


def tokenizer(kind):
    t = Tokenizer(models.BPE(ignore_merges=kind == "llama-bpe"))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=kind in ("smollm", "gpt-2"))
    first = {"smollm": lambda: pre_tokenizers.Digits(individual_digits=True),
             "llama-bpe": lambda: pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
             "qwen2": lambda: pre_tokenizers.Split(Regex(QWEN2), "isolated"),
             "dbrx": lambda: pre_tokenizers.Split(Regex(LLAMA3), "removed", invert=True)}
    t.pre_tokenizer = pre_tokenizers.Sequence([first[kind](), byte_level]) if kind in first else byte_level
    if kind == "qwen2":
        t.normalizer = normalizers.NFC()
    t.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=["<s>", "</s>"], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    t.train_from_iterator(["the then there 123 1234 it's a an and hello hello"] * 4, trainer)
    if kind == "llama-bpe":
        t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B:1", special_tokens=[("<s>", 0)])
    return t


CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 96,
          "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-5,
          "max_position_embeddings": 128, "vocab_size": 304, "tie_word_embeddings": False, "bos_token_id": 0,
          "eos_token_id": 1, "rope_theta": 5000.0, "torch_dtype": "float32"}


def weights(vocabulary=CONFIG["vocab_size"]):
    random = np.random.default_rng(3)
    d, inner, kv = 64, 96, 32
    shapes = {"model.embed_tokens.weight": (vocabulary, d), "model.norm.weight": (d,), "lm_head.weight": (vocabulary, d)}
    for i in range(CONFIG["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        shapes |= {layer + "input_layernorm.weight": (d,), layer + "post_attention_layernorm.weight": (d,),
                   layer + "self_attn.q_proj.weight": (d, d), layer + "self_attn.k_proj.weight": (kv, d),
                   layer + "self_attn.v_proj.weight": (kv, d), layer + "self_attn.o_proj.weight": (d, d),
                   layer + "mlp.gate_proj.weight": (inner, d), layer + "mlp.up_proj.weight": (inner, d),
                   layer + "mlp.down_proj.weight": (d, inner)}
    return {name: random.standard_normal(shape, dtype=np.float32) for name, shape in shapes.items()}


def write_folder(folder, kind):
    folder.mkdir()
    save_file(weights(), folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(CONFIG))
    tokenizer(kind).save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "eos_token": "</s>",
                                                              "chat_template": "{{ messages[0].content }}"}))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [1, 7], "do_sample": True, "temperature": 0.7,
                                                               "top_k": 20, "top_p": 0.9}))


def check_to_gguf(folder):
    """Tensors of each type are those of the package gguf; back in a folder they are what they were."""
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, CONFIG["num_hidden_layers"])
    write_folder(folder / "model", "smollm")
    for dtype, kind in TYPES.items():
        path = folder / f"{dtype}.gguf"
        run("convert", folder / "model", path, "--dtype", dtype)
        got = {t.name: t for t in gguf.GGUFReader(path).tensors}
        expect(len(got) == len(weights()), got.keys())
        for name, weight in weights().items():
            for part, heads in (("q_proj", 4), ("k_proj", 2)):
                if part in name:
                    weight = check_gguf.interleave(weight, heads)
            wanted = kind
            if weight.ndim == 1:
                wanted = TYPES["f32"]
            elif dtype == "q4_0" and ("embed_tokens" in name or "lm_head" in name):
                wanted = TYPES["q8_0"]
            tensor = got[names.get_name(name, (".weight",))]
            bits = gguf.quants.quantize(weight, wanted)
            expect(tensor.tensor_type == wanted and tensor.data.tobytes() == bits.tobytes(), f"{dtype}: {name}")
    run("convert", folder / "f32.gguf", folder / "back")
    back = folder_tensors(folder / "back")
    expect(back.keys() == weights().keys(), back.keys())
    expect(all(np.array_equal(back[name], weight) for name, weight in weights().items()), "a folder through GGUF and back")
    # From one type to another, without a folder between.
    run("convert", folder / "f32.gguf", folder / "again.gguf", "--dtype", "q8_0")
    one, other = ({t.name: t.data.tobytes() for t in gguf.GGUFReader(folder / name).tensors}
                  for name in ("again.gguf", "q8_0.gguf"))
    expect(one == other, "q8_0 by way of f32")
    # Half the bits, in a folder and in GGUF.
    run("convert", folder / "model", folder / "half", "--dtype", "f16")
    run("convert", folder / "f16.gguf", folder / "half2")
    half, half2 = folder_tensors(folder / "half"), folder_tensors(folder / "half2")
    expect(all(np.array_equal(half[n], w.astype(np.float16)) for n, w in weights().items()), "a folder in f16")
    expect(all(np.array_equal(half2[n], half[n]) for n in half if half[n].ndim == 2), "a folder of GGUF in f16")
    expect(json.loads((folder / "half" / "config.json").read_text())["torch_dtype"] == "float16", "torch_dtype")
    # And the same tokens, sampled as the makers say.
    how = ("--raw", "--prompt", "then", "--max-tokens", 8, "--weights", "f32", "--seed", 3, "--json")
    told = [json.loads(run("generate", "--model", folder / m, *how))["ids"] for m in ("model", "f32.gguf", "back")]
    expect(told[0] == told[1] == told[2] and len(set(told[0])) > 1, told)


def check_tokens(name, path, back, theirs, texts):
    """The tokenizer in the file, and the one in the folder made of it, give the ids and the texts of that one."""
    ours = Tokenizer.from_file(str(back / "tokenizer.json"))
    wanted = [theirs.encode(text).ids for text in texts]
    got = run("tokenize", "--model", path, "--jsonl", text="".join(json.dumps(text) + "\n" for text in texts))
    got = [json.loads(line)["ids"] for line in got.splitlines()]
    wrong = [text for text, a, b in zip(texts, got, wanted) if a != b]
    expect(len(got) == len(wanted) and not wrong, f"{name} in GGUF: {len(wrong)} of {len(texts)}: {wrong[:3]}")
    wrong = [text for text, ids in zip(texts, wanted) if ours.encode(text).ids != ids or
             ours.decode(ids, skip_special_tokens=False) != theirs.decode(ids, skip_special_tokens=False)]
    expect(not wrong, f"{name} back in a folder: {len(wrong)} of {len(texts)}: {wrong[:3]}")
    # Ids of one text are not those of another.
    expect(len({tuple(ids) for ids in wanted}) > len(texts) / 2, name)


def check_tokenizers(folder):
    for kind in ("smollm", "gpt-2", "llama-bpe", "qwen2", "dbrx"):
        model, path, back = folder / kind, folder / f"{kind}.gguf", folder / f"{kind}-back"
        write_folder(model, kind)
        run("convert", model, path)
        run("convert", path, back)
        reader = gguf.GGUFReader(path)
        expect(reader.fields["tokenizer.ggml.pre"].contents() == kind, kind)
        check_tokens(kind, path, back, tokenizer(kind), TEXTS)
        config = json.loads((back / "tokenizer_config.json").read_text())
        expect(config["bos_token"] == "<s>" and config["eos_token"] == "</s>", config)
        expect(config["chat_template"] == "{{ messages[0].content }}", config)
        generation = json.loads((back / "generation_config.json").read_text())
        expect(generation["eos_token_id"] == [1, 7] and generation["do_sample"] and generation["top_k"] == 20 and
               generation["temperature"] == 0.7 and generation["top_p"] == 0.9, generation)


def write_scored_folder(folder, t, size):
    folder.mkdir()
    save_file(weights(size), folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps({**CONFIG, "vocab_size": size}))
    t.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}))


def check_sentencepiece_models(folder):
    """Models that SentencePiece made, as transformers writes them: their scores come back in their order."""
    data = json.loads((TESTS / "text" / "goldens" / "sentencepiece.json").read_text())
    random = Texts(5, ["<s>", "</s>", "</s>\n"], newer=False)
    for name, kind, rstrip in (("llama", "llama", False), ("Phi-3", "llama", True), ("gemma", "gemma", False),
                               ("unknown", "unknown", False)):
        v = data[kind]
        size = len(v["tokens"])
        t = check_sentencepiece.reference(v["tokens"], v["types"], v["scores"], rstrip)
        if not v["add_space_prefix"]:
            t.normalizer = normalizers.Replace(" ", check_sentencepiece.SPACE)
            t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
            t.decoder = decoders.Sequence([decoders.Replace(check_sentencepiece.SPACE, " "), decoders.ByteFallback(),
                                           decoders.Fuse()])
        t.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B:1", special_tokens=[("<s>", 1)])
        model, path, back = folder / f"tiny {name}", folder / f"{name}.gguf", folder / f"{name}-back"
        write_scored_folder(model, t, size)
        run("convert", model, path)
        run("convert", path, back)
        got = fields(gguf.GGUFReader(path))
        expect(got["tokenizer.ggml.model"] == "llama" and got["tokenizer.ggml.tokens"] == v["tokens"], name)
        expect(got["tokenizer.ggml.token_type"] == v["types"], f"{name}: types")
        expect(got["tokenizer.ggml.add_space_prefix"] == v["add_space_prefix"] and got["tokenizer.ggml.add_bos_token"], name)
        # By score, and those of one score by id; of those that are made of others.
        made = {a + b for a, b in json.loads((model / "tokenizer.json").read_text())["model"]["merges"]}
        made = [i for i, token in enumerate(v["tokens"]) if token in made and v["types"][i] == 1]
        orders = [sorted(made, key=lambda i: -scores[i]) for scores in (got["tokenizer.ggml.scores"], v["scores"])]
        expect(orders[0] == orders[1] and len(made) > 100, f"{name}: scores")
        texts = v["texts"] + [random.text() for _ in range(300)]
        check_tokens(name, path, back, t, texts)
        expect(("Phi-3" in got["general.name"]) == (name == "Phi-3"), got["general.name"])


def check_refusals(folder):
    model = folder / "refused"
    write_folder(model, "gpt-2")
    run("convert", model, folder / "x.gguf", "--dtype", "q5_k", error="TL-CONVERT-002: convert: Q5_K can't be written to GGUF")
    run("convert", model, folder / "x", "--dtype", "q8_0", error="Q8_0 can't be written to safetensors")
    run("convert", model, folder / "x", "--dtype", "int4", error="TL-CONVERT-002: tlaloc: there is no element type 'int4'")
    run("convert", model, model, error="is there already, and not empty")
    run("convert", model, model / "config.json" / "x", error="TL-FILE-001: convert: can't make the folder")
    run("convert", folder / "nowhere", folder / "x", error="TL-FILE-001")
    t = tokenizer("gpt-2")
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    t.save(str(model / "tokenizer.json"))
    run("convert", model, folder / "x.gguf", error="splits words in a way that GGUF has no name for")
    tokenizer("gpt-2").save(str(model / "tokenizer.json"))

    def refused(error, tokens=None, **settings):
        (model / "config.json").write_text(json.dumps({**CONFIG, **settings}))
        if tokens:
            t = tokenizer("gpt-2")
            tokens(t)
            t.save(str(model / "tokenizer.json"))
        run("convert", model, folder / "x.gguf", error=error)
        tokenizer("gpt-2").save(str(model / "tokenizer.json"))

    refused("the windows of layers of this mistral model can't be said in GGUF", model_type="mistral", sliding_window=8)
    refused("the activation of this llama model", hidden_act="gelu")
    refused("GGUF's architecture llama has no positions of rope_type dynamic",
            rope_scaling={"rope_type": "dynamic", "factor": 2.0})
    refused("GGUF's architecture smollm3 has no positions of rope_type llama3", model_type="smollm3", rope_scaling={
        "rope_type": "llama3", "factor": 2.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64})
    refused("cuts or fills up texts", lambda t: t.enable_truncation(9))
    refused('the token "<s>" is looked for in another way', lambda t: t.add_special_tokens([AddedToken("<s>", lstrip=True)]))
    refused("adds other tokens around a text", lambda t: setattr(t, "post_processor", processors.TemplateProcessing(
        single="<s> </s> $A", special_tokens=[("<s>", 0), ("</s>", 1)])))
    (model / "generation_config.json").write_text(json.dumps({"eos_token_id": [1, 3, 4, 5]}))
    refused("4 tokens end answers, and GGUF names 3")
    (model / "generation_config.json").unlink()
    (model / "tokenizer.json").unlink()
    (model / "tokenizer.model").write_bytes(b"x")
    run("convert", model, folder / "x.gguf", error="has tokenizer.model, and no tokenizer.json")
    expect(not (folder / "x.gguf").exists() and not (folder / "x").exists(), "what is refused leaves nothing")


def main():
    for check in (check_families, check_to_gguf, check_tokenizers, check_sentencepiece_models, check_refusals):
        with tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder))
    print("\n".join(map(str, failures)) or "all as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
