"""Runs `tlaloc inspect` on a real model in GGUF and on folders with safetensors, and looks at what it says.

usage: check_inspect.py COMMAND MODEL
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from gguf import GGUFReader, GGUFValueType, GGUFWriter
from safetensors.numpy import save_file

SIZES = {"layers": "block_count", "width": "embedding_length", "feed_forward": "feed_forward_length",
         "heads": "attention.head_count", "kv_heads": "attention.head_count_kv", "context": "context_length",
         "vocabulary": "vocab_size"}
CONFIG = {"architectures": ["LlamaForCausalLM"], "num_hidden_layers": 2, "hidden_size": 4, "intermediate_size": 8,
          "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 2, "max_position_embeddings": 16, "vocab_size": 3}
failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)


def inspect(*arguments):
    run = subprocess.run([sys.argv[1], "inspect", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return run.returncode, run.stdout.decode(), run.stderr.decode()


def check_model(model):
    code, out, err = inspect("--json", model)
    expect(code == 0, err)
    report, wanted = json.loads(out), GGUFReader(model)
    expect([(t["name"], t["storage"], t["shape"], t["bytes"]) for t in report["tensors"]] ==
           [(t.name, t.tensor_type.name, [int(n) for n in reversed(t.shape)], int(t.n_bytes)) for t in wanted.tensors], "tensors")
    expect(report["parameters"] == sum(int(t.n_elements) for t in wanted.tensors), "parameters")
    expect(report["bytes"] == sum(int(t.n_bytes) for t in wanted.tensors), "bytes")
    expect(report["architecture"] == "llama", "architecture")
    for ours, theirs in SIZES.items():
        expect(report["sizes"][ours] == wanted.get_field(f"llama.{theirs}").contents(), ours)
    expect(report["tokenizer"] == {"type": "gpt2", "pre_tokenizer": "smollm", "tokens": 49152, "merges": 48900}, "tokenizer")
    expect(report["chat_template"] == wanted.get_field("tokenizer.chat_template").contents(), "template")
    expect(report["metadata"]["llama.attention.layer_norm_rms_epsilon"] == 1e-5, "epsilon")
    expect(report["metadata"]["tokenizer.ggml.tokens"] == "49152 elements of the type text", "tokens")
    fields = [name for name in wanted.fields if not name.startswith("GGUF.")]
    expect(list(report["metadata"]) == fields, "metadata")
    expect((report["family"], report["context"], report["refusal"]) == ("llama", 8192, ""), "how it runs")
    heads = wanted.get_field("llama.attention.head_count_kv").contents()
    width = wanted.get_field("llama.embedding_length").contents() // wanted.get_field("llama.attention.head_count").contents()
    expect(report["token_bytes"] == 2 * 4 * wanted.get_field("llama.block_count").contents() * heads * width, "bytes of a token")
    expect(report["context_bytes"] == 8192 * report["token_bytes"], "bytes of a context")
    code, out, err = inspect(model)
    expect("\nruns as       llama: up to 8192 tokens of context, 46.1 kB for each\n" in out, f"how it runs: {out}")
    expect("\nmemory        96.6 MB of weights, up to as much again where products have them packed, "
           "377.5 MB for a full context\n" in out, f"memory: {out}")
    expect(code == 0 and "blk.*.attn_q.weight" in out and "in 30 tensors" in out and "134.5 M" in out, f"text: {out}{err}")
    code, out, err = inspect("--tensors", model)
    expect(code == 0 and "blk.29.attn_q.weight" in out and "*" not in out.split("\ntensors\n")[1], f"all: {out}{err}")


def check_folder(folder):
    save_file({"model.layers.0.w": np.zeros((2, 3), np.float16), "model.layers.1.w": np.zeros((2, 3), np.float16),
               "head": np.zeros(5, np.float32)}, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "tokenizer.json").write_text(json.dumps(
        {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}, "added_tokens": [{"id": 2}]}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": "{{ messages }}"}))
    for path in folder, folder / "model.safetensors":
        code, out, err = inspect("--json", path)
        expect(code == 0, err)
        report = json.loads(out)
        expect(report["architecture"] == "LlamaForCausalLM", "architecture of the folder")
        expect(report["sizes"] == {"layers": 2, "width": 4, "feed_forward": 8, "heads": 2, "kv_heads": 1, "head_size": 2,
                                   "context": 16, "vocabulary": 3}, f"sizes: {report['sizes']}")
        expect(report["family"] == "" and "TL-LLM-002: llm: " in report["refusal"] and "model_type is missing" in report["refusal"],
               f"why it does not run: {report['refusal']}")
        expect(report["tokenizer"] == {"type": "BPE", "tokens": 3, "added_tokens": 1, "merges": 1}, "tokenizer of the folder")
        expect(report["chat_template"] == "{{ messages }}", "template of the folder")
        expect(report["metadata"] == {"format": "pt"} and report["parameters"] == 17 and report["bytes"] == 44, "sums")
        expect(report["storage"] == {"F16": {"tensors": 2, "bytes": 24}, "F32": {"tensors": 1, "bytes": 20}}, "storage")
    # A file beside the model that has another name is not what config.json describes.
    save_file({"lora": np.zeros(2, np.float32)}, folder / "adapter_model.safetensors")
    report = json.loads(inspect("--json", folder / "adapter_model.safetensors")[1])
    expect(report["parameters"] == 2 and report["architecture"] == "" and not report["tokenizer"], f"an adapter: {report}")
    # Nor do the tensors depend on what is wrong beside them.
    good = (folder / "tokenizer.json").read_bytes()
    (folder / "tokenizer.json").write_bytes(good.replace(b"ab", b"a\xff"))
    code, out, err = inspect("--json", folder)
    expect(code == 0 and json.loads(out)["parameters"] == 17 and json.loads(out)["tokenizer"] == {} and
           f"{folder}/tokenizer.json:1:" in json.loads(out)["faults"][0], f"a broken tokenizer: {out}{err}")
    code, out, err = inspect(folder)
    expect(code == 0 and "\nfault         " + str(folder) in out, f"a broken tokenizer: {out}{err}")
    (folder / "tokenizer.json").write_bytes(good)
    code, out, err = inspect(folder)
    expect(code == 0 and "model.layers.*.w" in out and "in 2 tensors" in out, f"text: {out}{err}")
    (folder / "config.json").write_text(json.dumps({"model_type": "both", "text_config": {"hidden_size": 7}}))
    report = json.loads(inspect("--json", folder)[1])
    expect(report["architecture"] == "both" and report["sizes"] == {"width": 7}, "a nested config")
    (folder / "config.json").write_text('{"a": 1, "a": 2}')
    code, out, err = inspect(folder)
    expect(code == 1 and f"{folder}/config.json:1:" in err and "TL-JSON-001" in err, f"a broken config: {err}")


def check_hostile(folder):
    writer = GGUFWriter(folder / "x.gguf", "test")
    writer.add_key_value("general.name", b"\xff\x1b[2J", GGUFValueType.STRING)
    writer.add_key_value("general.license", "\u00a9 \u00e9 \u009b2J\u0085", GGUFValueType.STRING)
    writer.add_key_value("nan", float("nan"), GGUFValueType.FLOAT32)
    writer.add_key_value("least", 5e-324, GGUFValueType.FLOAT64)
    writer.add_key_value("infinite", [1.5, float("-inf")], GGUFValueType.ARRAY)
    writer.add_key_value("list", [[1, 2], [3]], GGUFValueType.ARRAY)
    writer.add_tensor("a\x1b[2Jb", np.zeros(3, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    code, out, err = inspect(folder / "x.gguf")
    (folder / "x.gguf").rename(folder / "sha256-0123")
    renamed = inspect(folder / "sha256-0123")
    renamed = (renamed[0], renamed[1].replace("sha256-0123", "x.gguf"), renamed[2])
    expect(renamed == (code, out, err), f"a GGUF file of another name: {renamed}")
    (folder / "sha256-0123").rename(folder / "x.gguf")
    expect(code == 0 and "\x1b" not in out and "list = [[1,2],[3]]" in out, f"controls: {out!r}{err}")
    expect('license = "\u00a9 \u00e9 ' in out and r"\u009b2J\u0085" in out and "\u009b" not in out, f"C1: {out!r}")
    report = json.loads(inspect("--json", folder / "x.gguf")[1], parse_constant=lambda name: expect(False, f"{name} in JSON"))
    expect(report["metadata"]["nan"] == "nan" and report["metadata"]["least"] == 5e-324 and report["metadata"]["infinite"] == [1.5, "-inf"], "numbers that JSON has not")
    expect(report["metadata"]["general.name"] == "\\xff\x1b[2J", f"bytes: {report['metadata']}")
    for path, message in [("no/such.gguf", "TL-FILE-001: gguf: can't read no/such.gguf"),
                          (folder / "nothing", f"can't read {folder}/nothing"), (folder / "text.gguf", "TL-GGUF-001")]:
        (folder / "text.gguf").write_text("text")
        code, out, err = inspect(path)
        expect(code == 1 and message in err, f"{path}: {code} {err}")


def main():
    model = pathlib.Path(sys.argv[2])
    if not model.exists():
        print(f"{model} is missing: run ./setup --data")
        return 1
    check_model(model)
    with tempfile.TemporaryDirectory() as folder:
        check_folder(pathlib.Path(folder))
        check_hostile(pathlib.Path(folder))
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
