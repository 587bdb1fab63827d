// The command `tlaloc`: looks at programs and models, runs, differentiates and compiles programs.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "tlaloc/base/error.h"
#include "tools/tlaloc/chat.h"
#include "tools/tlaloc/commands.h"
#include "tools/tlaloc/generate.h"

namespace {

using namespace tlaloc::command;  // NOLINT: this file is about nothing else
using tlaloc::EnvironmentError;

/// Output that a full disk cuts off is no success.
void finish_output() {
  errno = 0;
  if (std::cout.flush() && std::fflush(stdout) == 0) return;
  const std::string reason = errno ? std::string(": ") + std::strerror(errno) : "";
  throw EnvironmentError({"TL-FILE-001",
                          "tlaloc",
                          "can't write all of the output" + reason,
                          "what was written is cut off: make room, and run it again",
                          {}});
}

constexpr char kModule[] =
    "file with a program: StableHLO as text or bytecode, or a graph; -: stdin";

void add_function(CLI::App* command, ModuleArguments& a) {
  command->add_option("--function", a.function,
                      "the function; without it main, or the only public one");
  command->add_option("--dim", a.dims, "a size, such as n=128")->allow_extra_args(false);
}
void add_backend(CLI::App* command, BackendArguments& a) {
  command->add_option("--backend", a.name, "interp, cpu, pjrt, pjrt:<plugin> or iree")
      ->capture_default_str();
  command->add_option("--recorded-trips", a.recorded_trips,
                      "on plugins: trips of a loop without a bound whose values are kept");
  command->add_option("--devices", a.devices, "of a CPU plugin, for programs over a mesh")
      ->check(CLI::Range(1, 1024));
}

void add_explain(CLI::App& app, ExplainArguments& a) {
  CLI::App* command = app.add_subcommand(
      "explain", "Says how a module runs: its kernels, what they cost, and its memory");
  command->add_option("module", a.module, kModule)->required();
  add_function(command, a);
  command->add_flag("--run", a.run,
                    "runs it, on numbers from [0, 1) and zeros, and says what takes how long");
  command->add_flag("--json", a.json, "writes JSON");
  command->callback([&] { explain(a); });
}

void add_compile(CLI::App& app, CompileArguments& a) {
  CLI::App* command = app.add_subcommand(
      "compile",
      "Writes a module as an object file, which a program links without Tlaloc, or as a shared "
      "library; or compiles it "
      "for a device that is not here, and says what it would take there");
  command->add_option("module", a.module, kModule)->required();
  command->add_option("-o,--object", a.object,
                      "the object file, or NAME.so, which is needed; with --for, where the "
                      "device's program goes, which may be left out");
  CLI::Option* target = command->add_option(
      "--for", a.target, "a device: tpu-v5e, cuda-sm90, ...; needs its plugin (./setup --aot)");
  command->add_option("--dim", a.dims, "a size, such as n=128; of a device's program")
      ->allow_extra_args(false)
      ->needs(target);
  command->add_option("--header", a.header, "the C header; not with --for")->excludes(target);
  command
      ->add_option("--function", a.function,
                   "what C calls it; without it, the graph's name; not with --for")
      ->excludes(target);
  command
      ->add_option("--cpu", a.cpu,
                   "what to compile for: native, x86-64-v3, znver4, ...; not with --for")
      ->capture_default_str()
      ->excludes(target);
  command->callback([&] {
    if (a.target.empty() && a.object.empty()) throw CLI::RequiredError("--object");
    compile(a);
  });
}

void add_run(CLI::App& app, RunArguments& a, CheckArguments& c, int& status) {
  CLI::App* command = app.add_subcommand("run", "Runs a module, or tests that modules are");
  command
      ->add_option("module", c.modules,
                   std::string(kModule) + "; or a folder that export-bounded wrote")
      ->required();
  CLI::Option* check_flag = command->add_flag(
      "--check", c.enabled,
      "runs the functions that check something (check.expect_eq, ...), of any number of files, "
      "each with any number of modules between lines of // -----");
  add_backend(command, a.backend);
  command->add_option("--function", a.function,
                      "the function; without it main, or the only public one");
  // Tests bring all that these say. A bracket begins a literal, not a list of values.
  auto add = [&](const char* name, auto& value, const char* text) {
    return command->add_option(name, value, text)->excludes(check_flag)->allow_extra_args(false);
  };
  add("--dim", a.dims, "a size, such as n=128");
  add("--input", a.inputs,
      "an argument, in order, or NAME=VALUE, or POSITION=VALUE: file.npy, a literal such as "
      "[[1, 2.5], [nan, inf]], a number that fills an array, random, or random:LOW:HIGH");
  add("--rest", a.rest, "the value of all arguments without an --input");
  add("--seed", a.seed, "of random arguments")->capture_default_str();
  add("--output", a.outputs, "a file for each result, in order, to be .npy");
  add("--expect", a.expected, "what each result should be, in order: file.npy or a literal");
  add("--tolerance", a.tolerance, "by how much of max(1, |expected|) a result may be off")
      ->capture_default_str();
  command
      ->add_option("--benchmark", a.benchmark,
                   "runs for so many seconds, and says what a run takes")
      ->expected(0, 1)
      ->default_str("1")
      ->excludes(check_flag);
  command->callback([&] {
    if (c.enabled) {
      c.function = a.function;
      c.backend = a.backend;
      status = check(c);
      return;
    }
    if (c.modules.size() != 1) throw CLI::ValidationError("module", "several need --check");
    a.module = c.modules[0];
    status = run(a);
  });
}

void add_export_bounded(CLI::App& app, ExportBoundedArguments& a) {
  CLI::App* command = app.add_subcommand(
      "export-bounded",
      "Writes a module as a folder of bodies, one for each bucket, that `tlaloc run` serves any "
      "size within bounds with");
  command->add_option("module", a.module, kModule)->required();
  add_function(command, a);
  auto add = [&](const char* name, auto& value, const char* text) {
    return command->add_option(name, value, text)->allow_extra_args(false);
  };
  add("--bound", a.bounds, "sizes that callers choose: n=64 for 1 to 64, or n=2:64")->required();
  add("--buckets", a.buckets,
      "n=16,32,64: what sizes are padded to; without it powers of two from 16, and the bound");
  add("--padding", a.padding, "x=1: what follows the elements of an argument; without it 0");
  add("--valid-mask", a.valid_masks,
      "mask=n: the argument that is 1 where an axis of the size n counts; the function uses it");
  add("--valid-length", a.valid_lengths, "length=n: the argument that is the size n itself");
  add("--donate", a.donated,
      "x: an argument that runs may be given for good; the first result of its type takes over its "
      "memory");
  command->add_option("--recorded-trips", a.recorded_trips,
                      "trips of a loop without a bound whose values are kept");
  command->add_option("--tolerance", a.tolerance,
                      "by how much of max(1, |expected|) a padded run may be off");
  command->add_option("-o,--output", a.output, "the folder")->required();
  command->callback([&] { export_bounded(a); });
}

void add_grad(CLI::App& app, GradArguments& a) {
  CLI::App* command =
      app.add_subcommand("grad", "Writes the gradient of a module's result as StableHLO");
  command->add_option("module", a.module, kModule)->required();
  add_function(command, a);
  command
      ->add_option("--wrt", a.wrt,
                   "positions or names of the arguments to differentiate by, such as 0,2; without "
                   "it, all floating ones")
      ->delimiter(',');
  command->add_option("--result", a.result, "the position of the scalar result")
      ->capture_default_str();
  command->add_flag("--value", a.value, "the result itself comes first");
  command->add_option("--recorded-trips", a.recorded_trips,
                      "trips of a loop without a bound whose values are kept");
  command->add_option("-o,--output", a.output, "the file; without it, standard output");
  command->callback([&] { grad(a); });
}

void add_convert(CLI::App& app, ConvertArguments& a) {
  CLI::App* command =
      app.add_subcommand("convert", "Writes a model in another format, or with other elements");
  command->add_option("in", a.in, "folder with a model, or GGUF file")->required();
  command->add_option("out", a.out, "GGUF file, by its ending .gguf, or else a folder")->required();
  command->add_option("--dtype", a.dtype,
                      "of the weights: f32, f16, bf16; in GGUF q8_0 and q4_0 too");
  command->callback([&] { convert(a); });
}

void add_inspect(CLI::App& app, InspectArguments& a) {
  CLI::App* command = app.add_subcommand(
      "inspect",
      "Says what a model is (architecture, sizes, tokenizer, metadata, tensors) or a module "
      "(signature, operations, constants, cost)");
  command
      ->add_option("file", a.module,
                   "GGUF file, folder with a model in safetensors or with a bounded program, or "
                   "file with a program")
      ->required();
  add_function(command, a);
  command->add_flag("--tensors", a.tensors,
                    "a line for each tensor, not one for all layers that are alike");
  command->add_flag("--json", a.json, "writes JSON");
  command->callback([&] { inspect(a); });
}

void add_generate(CLI::App& app, GenerateArguments& a) {
  CLI::App* command = app.add_subcommand(
      "generate", "Lets a language model answer a question, or go on from a text");
  add_options(*command, a);
  command->callback([&] { generate(a); });
}

void add_chat(CLI::App& app, ChatArguments& a) {
  CLI::App* command =
      app.add_subcommand("chat", "A conversation with a language model in the terminal");
  add_options(*command, a);
  command->callback([&] { chat(a); });
}

void add_tokenize(CLI::App& app, TokenizeArguments& a) {
  CLI::App* command =
      app.add_subcommand("tokenize", "Turns text from stdin into a model's tokens, or back");
  command->add_option("--model", a.model, "tokenizer.json, a folder with one, or a GGUF file")
      ->required();
  command->add_flag("--jsonl", a.jsonl, "a JSON string a line in, {\"ids\": [...]} out");
  command->add_flag("--decode", a.decode, "ids in, text out");
  command->add_flag("--no-special", a.no_special,
                    "adds no special tokens; leaves them out of text");
  command->callback([&] { tokenize(a); });
}

void add_doctor(CLI::App& app, DoctorArguments& a) {
  CLI::App* command = app.add_subcommand(
      "doctor", "Says what this machine has for Tlaloc, and what each back end can't do");
  command->add_option("--plugin", a.plugin, "looks at this PJRT plugin only, and writes JSON");
  command->add_flag("--json", a.json, "writes JSON");
  command->callback([&] { doctor(a); });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Tlaloc: differentiated and compiled numerical programs");
  app.require_subcommand(1);
  int status = 0;
  RunArguments run_arguments;
  CheckArguments check_arguments;
  GradArguments grad_arguments;
  ExportBoundedArguments export_bounded_arguments;
  ConvertArguments convert_arguments;
  InspectArguments inspect_arguments;
  ExplainArguments explain_arguments;
  CompileArguments compile_arguments;
  GenerateArguments generate_arguments;
  ChatArguments chat_arguments;
  TokenizeArguments tokenize_arguments;
  DoctorArguments doctor_arguments;
  add_run(app, run_arguments, check_arguments, status);
  add_grad(app, grad_arguments);
  add_export_bounded(app, export_bounded_arguments);
  add_convert(app, convert_arguments);
  add_inspect(app, inspect_arguments);
  add_explain(app, explain_arguments);
  add_compile(app, compile_arguments);
  add_generate(app, generate_arguments);
  add_chat(app, chat_arguments);
  add_tokenize(app, tokenize_arguments);
  add_doctor(app, doctor_arguments);

  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
      status = app.exit(e);
    }
    finish_output();
    return status;
  } catch (const std::bad_alloc&) {
    const EnvironmentError e(
        {"TL-MEM-001", "", "could not allocate memory", "free memory, or look at less", {}});
    std::cerr << "tlaloc: " << e.what() << "\n";
  } catch (const std::exception& e) {
    std::cerr << "tlaloc: " << e.what() << "\n";
  }
  return 1;
}
