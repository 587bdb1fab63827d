#include "tlaloc/bounded/program.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "tlaloc/base/digest.h"
#include "tlaloc/base/error.h"
#include "tlaloc/base/files.h"
#include "tlaloc/bounded/padding.h"
#include "tlaloc/ir/builder.h"
#include "tlaloc/stablehlo/import.h"

namespace tlaloc::bounded {
namespace {

std::string file_text(const std::string& path) {
  const auto file = MappedFile::open("bounded", path);
  return {reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size()};
}

ir::Type type_of(const Value& v, const Extents& extents) {
  return ir::Type::get(v.dtype, std::vector<ir::Dim>(extents.begin(), extents.end()));
}

}  // namespace

Manifest read_manifest(const std::string& folder) {
  const std::string path = (std::filesystem::path(folder) / kManifestFile).string();
  return parse_manifest(file_text(path), path);
}
std::string type_text(const Value& v, const Manifest& m) {
  std::string axes;
  for (const Axis& a : v.axes) {
    axes +=
        (axes.empty() ? "" : ", ") + (a.bound ? m.bounds[*a.bound].name : std::to_string(a.size));
  }
  return std::string(name(v.dtype)) + "[" + axes + "]";
}

Program::Program(Manifest manifest, Source source, runtime::Backend& backend)
    : manifest_(std::move(manifest)),
      source_(std::move(source)),
      backend_(backend),
      bodies_(manifest_.bodies.size()) {}

std::unique_ptr<const Program> Program::open(const std::string& folder, runtime::Backend& backend) {
  const std::filesystem::path at(folder);
  Manifest m = read_manifest(folder);
  std::vector<std::string> files;
  for (const Body& b : m.bodies) files.push_back((at / b.file).string());
  return std::make_unique<const Program>(
      std::move(m), [files = std::move(files)](std::size_t k) { return file_text(files[k]); },
      backend);
}

ir::GraphRef Program::signature() const {
  ir::Builder b(manifest_.name);
  std::vector<ir::Dim> sizes;
  for (const Bound& bound : manifest_.bounds) {
    sizes.emplace_back(ir::Symbol::fresh(
        ir::SymbolFacts{.name = bound.name, .lower = bound.least, .upper = bound.most}));
  }
  ir::Vals params;
  for (const Input& i : manifest_.inputs) {
    if (i.role != Role::data) continue;
    std::vector<ir::Dim> shape;
    for (const Axis& a : i.axes) shape.push_back(a.bound ? sizes[*a.bound] : ir::Dim(a.size));
    params.push_back(b.param(ir::Type::get(i.dtype, shape), {i.name, {}}));
  }
  return b.build(params);
}

// ---- bodies ----

ir::GraphRef Program::checked_graph(std::size_t k) const {
  const Body& body = manifest_.bodies[k];
  const auto fail = [&](const std::string& message) {
    throw UserError(
        {"TL-BOUNDED-003", "bounded", body.file + " " + message, "export the program anew", {}});
  };
  const std::string text = source_(k);
  if (to_hex(sha256(text)) != body.sha256)
    fail("is not the file that the manifest names: its SHA-256 differs");
  const stablehlo::ImportedModule module = stablehlo::import_stablehlo(text, body.file);
  ir::GraphRef g = stablehlo::computation(module.main());
  const auto check = [&](const char* what, const std::vector<ir::Type>& have,
                         const std::vector<ir::Type>& want) {
    if (have.size() != want.size()) {
      fail("has " + std::to_string(have.size()) + " " + what + "s, not " +
           std::to_string(want.size()));
    }
    for (std::size_t i = 0; i < have.size(); ++i) {
      if (have[i] != want[i]) {
        fail("has the " + std::string(what) + " " + std::to_string(i) + " of type " +
             have[i].to_string() + ", not " + want[i].to_string());
      }
    }
  };
  std::vector<ir::Type> params, results;
  for (const Input& i : manifest_.inputs)
    params.push_back(type_of(i, manifest_.extents(i, body.sizes)));
  for (const Value& v : manifest_.results)
    results.push_back(type_of(v, manifest_.extents(v, body.sizes)));
  if (manifest_.exceeded) results.push_back(ir::Type::scalar(DType::boolean));
  check("parameter", {g->param_types().begin(), g->param_types().end()}, params);
  check("result", g->result_types(), results);
  return g;
}

runtime::CompileOptions Program::compile_options() const {
  runtime::CompileOptions o;
  for (std::size_t k = 0; k < manifest_.inputs.size(); ++k) {
    const auto result = manifest_.inputs[k].result;
    if (result) o.aliases.push_back({.param = k, .result = *result});
  }
  return o;
}

const runtime::Bound& Program::body(std::size_t k) const {
  Entry& e = bodies_[k];
  const std::lock_guard lock(e.mutex);
  if (!e.bound) {
    e.bound = backend_.compile(checked_graph(k), compile_options())->bind({});
    ++compiled_;
  }
  return *e.bound;
}

// ---- runs ----

std::vector<std::int64_t> Program::sizes_of(const std::vector<runtime::Buffer>& data) const {
  const Manifest& m = manifest_;
  struct Found {
    std::int64_t size;
    const Input* input;
  };
  std::vector<std::optional<Found>> found(m.bounds.size());
  std::size_t next = 0;
  for (const Input& input : m.inputs) {
    if (input.role != Role::data) continue;
    if (next == data.size()) break;
    const runtime::Buffer& x = data[next++];
    bool fits = x.dtype() == input.dtype && x.extents().size() == input.axes.size();
    for (std::size_t i = 0; fits && i < input.axes.size(); ++i) {
      fits = input.axes[i].bound || input.axes[i].size == x.extents()[i];
    }
    if (!fits) {
      throw UserError({"TL-SHAPE-002",
                       m.name,
                       input.name + " is " + runtime::type_text(x) + " where " +
                           type_text(input, m) + " is expected",
                       "pass an array of that type",
                       {}});
    }
    for (std::size_t i = 0; i < input.axes.size(); ++i) {
      if (!input.axes[i].bound) continue;
      const std::size_t k = *input.axes[i].bound;
      const std::int64_t size = x.extents()[i];
      if (!found[k]) found[k] = Found{size, &input};
      if (found[k]->size == size) continue;
      throw UserError({"TL-SHAPE-011",
                       m.name,
                       m.bounds[k].name + " is " + std::to_string(found[k]->size) + " in " +
                           found[k]->input->name + " and " + std::to_string(size) + " in " +
                           input.name,
                       "within one call an axis has one size",
                       {}});
    }
  }
  std::vector<std::int64_t> sizes;
  for (std::size_t k = 0; k < found.size(); ++k) {
    const Bound& b = m.bounds[k];
    const std::int64_t size = found[k]->size;
    if (size < b.least || size > b.most) {
      throw UserError({"TL-BOUND-001",
                       m.name,
                       b.name + " is " + std::to_string(size) + " in " + found[k]->input->name +
                           ", and must be from " + std::to_string(b.least) + " to " +
                           std::to_string(b.most),
                       "pass an array within the bound, or export the program with a larger one",
                       {}});
    }
    sizes.push_back(size);
  }
  return sizes;
}

runtime::Buffer Program::argument(const Input& input, const runtime::Buffer* given,
                                  const std::vector<std::int64_t>& sizes,
                                  const std::vector<std::int64_t>& padded) const {
  switch (input.role) {
    case Role::valid_length:
      return backend_.upload(valid_length(input.dtype, sizes[*input.bound]));
    case Role::valid_mask:
      return backend_.upload(valid_mask(input.dtype, sizes[*input.bound], padded[*input.bound]));
    default: {
      const Extents extents = manifest_.extents(input, padded);
      if (given->extents() == extents) return *given;
      return backend_.upload(pad(given->to_host(), extents, input.padding));
    }
  }
}

std::vector<runtime::Buffer> Program::run(std::vector<runtime::Buffer> data,
                                          const std::vector<bool>& donate) const {
  const Manifest& m = manifest_;
  const auto wanted =
      static_cast<std::size_t>(std::ranges::count(m.inputs, Role::data, &Input::role));
  if (data.size() != wanted) {
    throw UserError(
        {"TL-ARITY-001",
         m.name,
         "it takes " + std::to_string(wanted) + " arguments, not " + std::to_string(data.size()),
         "",
         {}});
  }
  if (!donate.empty() && donate.size() != wanted) {
    throw UserError({"TL-ARITY-001",
                     m.name,
                     "it takes " + std::to_string(wanted) + " arguments, and is told of " +
                         std::to_string(donate.size()) + " whether they are donated",
                     "",
                     {}});
  }
  const std::vector<std::int64_t> sizes = sizes_of(data);
  const std::size_t k = m.body_for(sizes);
  const runtime::Bound& bound = body(k);
  const std::vector<std::int64_t>& padded = m.bodies[k].sizes;
  std::vector<runtime::Buffer> args;
  runtime::RunOptions options;
  options.donate.resize(m.inputs.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < m.inputs.size(); ++i) {
    const bool is_data = m.inputs[i].role == Role::data;
    const runtime::Buffer* given = is_data ? &data[next] : nullptr;
    options.donate[i] = is_data && !donate.empty() && donate[next];
    args.push_back(argument(m.inputs[i], given, sizes, padded));
    // Its padded copy goes to the run in its place.
    if (options.donate[i] && args[i].extents() != given->extents()) given->donate_host();
    next += is_data ? 1 : 0;
  }
  runtime::RunResult out = bound.run(std::move(args), options);
  if (m.exceeded && out.outputs.back().to_host().as<bool>()[0]) {
    throw UserError({"TL-LOOP-001",
                     m.name,
                     "the condition still holds after all trips",
                     "export the program with more recorded trips",
                     {}});
  }
  out.outputs.resize(m.results.size());
  for (std::size_t i = 0; i < m.results.size(); ++i) {
    const Extents extents = m.extents(m.results[i], sizes);
    if (out.outputs[i].extents() == extents) continue;
    out.outputs[i] = runtime::Buffer(cut(out.outputs[i].to_host(), extents));
  }
  return std::move(out.outputs);
}

std::vector<HostArray> Program::run_host(const std::vector<HostArray>& data) const {
  std::vector<runtime::Buffer> buffers;
  for (const HostArray& a : data) buffers.push_back(backend_.upload(a));
  std::vector<HostArray> results;
  for (const runtime::Buffer& b : run(std::move(buffers))) results.push_back(b.to_host());
  return results;
}

}  // namespace tlaloc::bounded
