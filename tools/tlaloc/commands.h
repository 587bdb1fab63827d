// The subcommands. They print to standard output and throw what is wrong; those that find a failure
// return the exit status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tlaloc::command {

/// A function of a module, and sizes for it.
struct ModuleArguments {
  std::string module;
  std::string function;           ///< empty: main, or the only public one
  std::vector<std::string> dims;  ///< "n=128"
};
/// What to run on.
struct BackendArguments {
  std::string name = "cpu";  ///< "interp", "cpu", "pjrt", "pjrt:<plugin>"
  std::int64_t recorded_trips = 0;
  std::int64_t devices = 0;  ///< of a CPU plugin; 0: as many as it has by itself
};

struct ExplainArguments : ModuleArguments {
  bool run = false, json = false;
};
void explain(const ExplainArguments& a);

struct CompileArguments {
  std::string module, object, header, function, cpu = "x86-64-v2";
  std::string target;  ///< of plugins::ahead_targets; empty: an object file
  std::vector<std::string> dims;
};
void compile(const CompileArguments& a);

struct ConvertArguments {
  std::string in, out, dtype;
};
void convert(const ConvertArguments& a);

struct InspectArguments : ModuleArguments {  ///< `module` may be a model too
  bool tensors = false, json = false;
};
void inspect(const InspectArguments& a);
/// Whether the folder is a bounded program.
bool is_bounded(const std::string& folder);
void inspect_bounded(const InspectArguments& a);
void inspect_model(const InspectArguments& a);
void inspect_module(const InspectArguments& a);

struct TokenizeArguments {
  std::string model;
  bool jsonl = false, decode = false, no_special = false;
};
void tokenize(const TokenizeArguments& a);

struct RunArguments : ModuleArguments {  ///< `module` may be a bounded program's folder
  BackendArguments backend;
  std::vector<std::string> inputs, outputs, expected;
  std::string rest;  ///< what parameters without an input are
  std::uint64_t seed = 0;
  double tolerance = 0;
  std::optional<double> benchmark;  ///< seconds
};
int run(const RunArguments& a);

struct CheckArguments {
  bool enabled = false;
  BackendArguments backend;
  std::vector<std::string> modules;
  std::string function;  ///< empty: all that check something
};
int check(const CheckArguments& a);

/// Sizes within bounds; texts such as "n=64".
struct ExportBoundedArguments : ModuleArguments {
  std::vector<std::string> bounds;                      ///< "n=64", "n=2:64"
  std::vector<std::string> buckets;                     ///< "n=16,32,64"
  std::vector<std::string> padding;                     ///< "x=1"
  std::vector<std::string> valid_masks, valid_lengths;  ///< "mask=n"
  std::vector<std::string> donated;                     ///< positions or names of parameters
  std::int64_t recorded_trips = 0;
  double tolerance = 0;
  std::string output;
};
void export_bounded(const ExportBoundedArguments& a);

struct GradArguments : ModuleArguments {
  std::vector<std::string> wrt;  ///< positions or names of parameters; empty: all floating ones
  std::size_t result = 0;
  bool value = false;
  std::int64_t recorded_trips = 0;
  std::string output;
};
void grad(const GradArguments& a);

struct DoctorArguments {
  std::string plugin;  ///< a path: to look at this one only, in this process
  bool json = false;
};
void doctor(const DoctorArguments& a);

}  // namespace tlaloc::command
