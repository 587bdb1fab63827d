// The command `tlaloc`: looks at programs and models, and compiles programs ahead of time.
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>

#include "tlaloc/base/error.h"
#include "tools/tlaloc/module.h"

namespace {

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

}  // namespace

int main(int argc, char** argv) {
  using namespace tlaloc::command;
  CLI::App app("Tlaloc: differentiated and compiled numerical programs");
  app.require_subcommand(1);

  ExplainArguments explain_arguments;
  CLI::App* explain_command = app.add_subcommand(
      "explain", "Says how a module runs: its kernels, what they cost, and its memory");
  explain_command->add_option("module", explain_arguments.module, "file with a graph; - for stdin")
      ->required();
  explain_command->add_option("--dim", explain_arguments.dims, "a size, such as n=128");
  explain_command->add_flag(
      "--run", explain_arguments.run,
      "runs it, on numbers from [0, 1) and zeros, and says what takes how long");
  explain_command->add_flag("--json", explain_arguments.json, "writes JSON");
  explain_command->callback([&] { explain(explain_arguments); });

  CompileArguments compile_arguments;
  CLI::App* compile_command = app.add_subcommand(
      "compile", "Writes a module as an object file, which a program links without Tlaloc");
  compile_command->add_option("module", compile_arguments.module, "file with a graph; - for stdin")
      ->required();
  compile_command->add_option("-o,--object", compile_arguments.object, "the object file")
      ->required();
  compile_command->add_option("--header", compile_arguments.header, "the C header");
  compile_command->add_option("--function", compile_arguments.function,
                              "the function's name; without it, the graph's");
  compile_command
      ->add_option("--cpu", compile_arguments.cpu,
                   "what to compile for: native, x86-64-v3, znver4, ...")
      ->capture_default_str();
  compile_command->callback([&] { compile(compile_arguments); });

  InspectArguments inspect_arguments;
  CLI::App* inspect_command = app.add_subcommand(
      "inspect", "Says what a model is: architecture, sizes, tokenizer, metadata, tensors");
  inspect_command
      ->add_option("model", inspect_arguments.model,
                   "GGUF file, or folder with a model in safetensors")
      ->required();
  inspect_command->add_flag("--tensors", inspect_arguments.tensors,
                            "a line for each tensor, not one for all layers that are alike");
  inspect_command->add_flag("--json", inspect_arguments.json, "writes JSON");
  inspect_command->callback([&] { inspect(inspect_arguments); });

  TokenizeArguments tokenize_arguments;
  CLI::App* tokenize_command =
      app.add_subcommand("tokenize", "Turns text from stdin into a model's tokens, or back");
  tokenize_command
      ->add_option("--model", tokenize_arguments.model,
                   "tokenizer.json, a folder with one, or a GGUF file")
      ->required();
  tokenize_command->add_flag("--jsonl", tokenize_arguments.jsonl,
                             "a JSON string a line in, {\"ids\": [...]} out");
  tokenize_command->add_flag("--decode", tokenize_arguments.decode, "ids in, text out");
  tokenize_command->add_flag("--no-special", tokenize_arguments.no_special,
                             "adds no special tokens; leaves them out of text");
  tokenize_command->callback([&] { tokenize(tokenize_arguments); });

  try {
    int status = 0;
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
