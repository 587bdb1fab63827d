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
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

LLM = pathlib.Path(__file__).parent.parent / "llm"
sys.path.insert(0, str(LLM))
import check_gguf  # noqa: E402

# Of its goldens, what transformers' configuration says in another way than the file.
REFUSED = {"llama_llama3"}
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


def check_families(folder):
    """Weights of each family come out of GGUF under transformers' names, in transformers' layout."""
    for name, (architecture, _) in check_gguf.MODELS.items():
        golden = json.loads((LLM / "goldens" / f"{name}.json").read_text())
        path, out = folder / f"{name}.gguf", folder / name
        check_gguf.write(golden, architecture, path)
        if name in REFUSED:
            run("convert", path, out, error="TL-CONVERT-001: convert: a llama model with these settings is another one")
            continue
        run("convert", path, out)
        got = folder_tensors(out) if out.exists() else {}
        wanted = {key: check_gguf.values(key, recipe) for key, recipe in golden["tensors"].items()}
        expect(got.keys() == wanted.keys(), f"{name}: {got.keys() ^ wanted.keys()}")
        for key in got.keys() & wanted.keys():
            # GGUF has 1 in Gemma's norms: what they were before is rounded.
            exact = not (architecture.startswith("gemma") and key.endswith("norm.weight"))
            same = np.array_equal(got[key], wanted[key]) if exact else np.abs(got[key] - wanted[key]).max() < 1e-6
            expect(same, f"{name}: {key}")
        config = json.loads((out / "config.json").read_text())
        expect(config["model_type"] == golden["config"]["model_type"] and config["torch_dtype"] == "float32", config)


def tokenizer(kind):
    t = Tokenizer(models.BPE(ignore_merges=kind == "llama-bpe"))
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=kind in ("smollm", "gpt-2"))
    first = {"smollm": lambda: pre_tokenizers.Digits(individual_digits=True),
             "llama-bpe": lambda: pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
             "qwen2": lambda: pre_tokenizers.Split(Regex(QWEN2), "isolated")}
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


def weights():
    random = np.random.default_rng(3)
    d, inner, kv, vocabulary = 64, 96, 32, CONFIG["vocab_size"]
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
    # And the same tokens.
    told = [json.loads(run("generate", "--model", folder / m, "--raw", "--prompt", "then", "--max-tokens", 8, "--weights",
                           "f32", "--json"))["ids"] for m in ("model", "f32.gguf", "back")]
    expect(told[0] == told[1] == told[2] and len(set(told[0])) > 1, told)


def check_tokenizers(folder):
    for kind in ("smollm", "gpt-2", "llama-bpe", "qwen2"):
        model, path, back = folder / kind, folder / f"{kind}.gguf", folder / f"{kind}-back"
        write_folder(model, kind)
        run("convert", model, path)
        run("convert", path, back)
        reader = gguf.GGUFReader(path)
        expect(bytes(reader.fields["tokenizer.ggml.pre"].parts[-1]).decode() == kind, kind)
        ours, theirs = Tokenizer.from_file(str(back / "tokenizer.json")), tokenizer(kind)
        for text in TEXTS:
            ids = theirs.encode(text).ids
            expect(ours.encode(text).ids == ids, f"{kind}: {text!r}")
            told = run("tokenize", "--model", path, text=text).split()
            expect([int(i) for i in told] == ids, f"{kind} in GGUF: {text!r}: {told} {ids}")
        config = json.loads((back / "tokenizer_config.json").read_text())
        expect(config["bos_token"] == "<s>" and config["eos_token"] == "</s>", config)
        expect((back / "chat_template.jinja").read_text() == "{{ messages[0].content }}", kind)
        expect(json.loads((back / "generation_config.json").read_text())["eos_token_id"] == 1, kind)


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
    (model / "config.json").write_text(json.dumps({**CONFIG, "model_type": "mistral", "sliding_window": None}))
    run("convert", model, folder / "x.gguf", error="TL-CONVERT-001: convert: a mistral model can't be written to GGUF")
    expect(not (folder / "x.gguf").exists() and not (folder / "x").exists(), "what is refused leaves nothing")


def main():
    for check in (check_families, check_to_gguf, check_tokenizers, check_refusals):
        with tempfile.TemporaryDirectory() as folder:
            check(pathlib.Path(folder))
    print("\n".join(map(str, failures)) or "all as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
