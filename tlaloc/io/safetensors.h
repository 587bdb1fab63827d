// Checkpoints in the safetensors format, in one file or in shards with an index.
// Format: huggingface.co/docs/safetensors, "Format".
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tlaloc/io/tensor_file.h"

namespace tlaloc::io {

/// Key and text, in the file's order.
using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

struct Safetensors {
  TensorFile tensors;  ///< in the order of their places; those of shards one after the other
  SafetensorsMetadata metadata;  ///< of the file, or of the first shard
};

/// The header of the bytes of a .safetensors file and where its tensors are; `owner` keeps the
/// bytes there. UserError TL-SAFETENSORS-001 for what is no such file: like the reference library,
/// headers above 100 MB, tensors that overlap, and bytes that no tensor has are refused; unlike it,
/// so are keys that occur twice. TL-SAFETENSORS-002 for an element type that the format has not.
Safetensors parse_safetensors(std::span<const std::byte> file,
                              const std::shared_ptr<const void>& owner, const std::string& name);

/// The shard of a name that an index has. The name is no path: it leads to nothing elsewhere.
using ShardSource = std::function<Safetensors(const std::string& file)>;
/// The tensors that the text of an index names, of shards that are asked for once each. UserError
/// TL-JSON-001, and TL-SAFETENSORS-003 for an index that does not fit its shards.
Safetensors parse_safetensors_index(std::string_view text, const ShardSource& source,
                                    const std::string& name);

/// Maps a .safetensors file, the shards of a .safetensors.index.json, or either of a folder:
/// model.safetensors or model.safetensors.index.json, one of which is there. The index says which
/// tensors there are: what a shard has beside them is not part of the model. Errors as above,
/// TL-JSON-001, TL-SAFETENSORS-003 for an index that does not fit its shards and for a folder that
/// has both, and EnvironmentError TL-FILE-001.
Safetensors open_safetensors(const std::string& path);

/// The order in which the reference library writes: by storage, wider ones first, then by name.
void sort_for_safetensors(std::vector<TensorSpec>& tensors);

struct SafetensorsOptions {
  SafetensorsMetadata metadata;
  /// A shard ends before the tensor that takes it above so many bytes of content; 0 for one file.
  std::int64_t max_shard_bytes = 0;
};
/// Writes the tensors in the order given, which aligns each to its elements if it is that of
/// sort_for_safetensors; `source` is asked for one after the other, so that one at a time need be
/// in memory. Where that takes several shards, "x.safetensors" becomes
/// "x-00001-of-00002.safetensors", … and "x.safetensors.index.json". All files appear, or none;
/// then those of these names that are left of an earlier model are removed, so that the one that is
/// read is the one that was written.
/// UserError TL-SAFETENSORS-002 for a storage that the format has not, TL-SAFETENSORS-004 for names
/// of tensors or of metadata that occur twice, are no UTF-8, or are __metadata__, and for a shape
/// that fills no whole bytes; EnvironmentError TL-FILE-001.
void write_safetensors(const std::string& path, const std::vector<TensorSpec>& tensors,
                       const TensorSource& source, const SafetensorsOptions& options = {});

}  // namespace tlaloc::io
