// Bounded programs, run: any sizes within the bounds, on any back end.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tlaloc/bounded/manifest.h"
#include "tlaloc/runtime/backend.h"

namespace tlaloc::bounded {

/// That of a folder. Errors: as parse_manifest; TL-FILE-001.
Manifest read_manifest(const std::string& folder);
/// "f32[n, 3]", with the names of bounds.
std::string type_text(const Value& v, const Manifest& m);

/// Bodies are compiled by the first run that needs them, and kept. May be used from many threads:
/// who needs a body that another compiles waits, and only they.
class Program {
 public:
  /// The text of body k, whose hash is checked.
  using Source = std::function<std::string(std::size_t k)>;

  /// `backend` must outlive the program.
  Program(Manifest manifest, Source source, runtime::Backend& backend);
  /// Of a folder. Errors: EnvironmentError TL-FILE-001; UserError TL-BOUNDED-002.
  static std::unique_ptr<const Program> open(const std::string& folder, runtime::Backend& backend);

  const Manifest& manifest() const { return manifest_; }
  runtime::Backend& backend() const { return backend_; }
  /// A graph with the data among the inputs as its params: their names, types and sizes.
  ir::GraphRef signature() const;

  /// The results for the data among the inputs, in order. What has a bounded axis is padded and cut
  /// on the host; all else stays where it is. `donate`: by data, what the run may write to, such as
  /// the result that the manifest pairs with it; it is consumed then (runtime/buffer.h); empty:
  /// none. Errors: UserError TL-ARITY-001, TL-SHAPE-002 (an argument of another type), TL-SHAPE-011
  /// (arguments disagree on a size), TL-BOUND-001 (a size out of bounds), TL-BOUNDED-003 (a body is
  /// not what the manifest says), TL-BUFFER-001 (donated before), TL-LOOP-001; what compiling and
  /// running throw.
  std::vector<runtime::Buffer> run(std::vector<runtime::Buffer> data,
                                   const std::vector<bool>& donate = {}) const;
  std::vector<HostArray> run_host(const std::vector<HostArray>& data) const;
  /// How many bodies were compiled. Does not wait for one that is being compiled.
  std::size_t compiled() const { return compiled_; }

 private:
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const runtime::Bound> bound;
  };
  std::vector<std::int64_t> sizes_of(const std::vector<runtime::Buffer>& data) const;
  const runtime::Bound& body(std::size_t k) const;
  ir::GraphRef checked_graph(std::size_t k) const;
  runtime::CompileOptions compile_options() const;
  runtime::Buffer argument(const Input& input, const runtime::Buffer* given,
                           const std::vector<std::int64_t>& sizes,
                           const std::vector<std::int64_t>& padded) const;

  Manifest manifest_;
  Source source_;
  runtime::Backend& backend_;
  mutable std::vector<Entry> bodies_;
  mutable std::atomic<std::size_t> compiled_ = 0;
};

}  // namespace tlaloc::bounded
