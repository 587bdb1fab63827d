#include "tlaloc/pjrt/program_cache.h"

#include <variant>

#include "tlaloc/base/environment.h"
#include "tlaloc/cache/file_identity.h"
#include "tlaloc/cache/host_cpu.h"
#include "tlaloc/pjrt/compile_options.h"

namespace tlaloc::plugins {
namespace {

std::string text(const CreateOptions::mapped_type& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string>)
          return v;
        else
          return std::to_string(v);
      },
      value);
}

Digest key_of(const Client& client, std::string_view module, std::int64_t replicas,
              std::int64_t partitions) {
  Hasher h;
  h.add("a program of a PJRT plugin, 1");
  cache::add_file(h, client.plugin().path());
  // What XLA and libtpu read when they compile.
  for (const char* flags : {"XLA_FLAGS", "LIBTPU_INIT_ARGS"}) h.add(environment(flags));
  h.add(static_cast<std::uint64_t>(client.plugin().minor_version()))
      .add(client.platform())
      .add(client.platform_version())
      .add(client.devices().size());
  for (std::size_t k = 0; k < client.devices().size(); ++k) h.add(client.device_kind(k));
  h.add(client.options().size());
  for (const auto& [name, value] : client.options()) h.add(name).add(text(value));
  return h.add(std::as_bytes(std::span(cache::host_cpu())))
      .add(compile_options(replicas, partitions))
      .add(module)
      .finish();
}

}  // namespace

ProgramCache& ProgramCache::of_process() {
  // Never destroyed: other threads may still compile while the process ends.
  static ProgramCache& cache = *new ProgramCache(cache::settings_from_environment());
  return cache;
}

ProgramCache::Program ProgramCache::compile(const Client& client, std::string_view module,
                                            std::int64_t replicas, std::int64_t partitions) {
  if (!store_.kept()) {
    return {client.compile(module, replicas, partitions), false, "there is no cache"};
  }
  const Digest key = key_of(client, module, replicas, partitions);
  Program r;
  if (const auto bytes = store_.find(key)) {
    try {
      const std::string_view saved(reinterpret_cast<const char*>(bytes->data()), bytes->size());
      return {client.load(saved, replicas * partitions), true, ""};
    } catch (const PluginError& e) {
      r.note = "what was on disk is refused: " + e.info().message;
    }
  }
  r.program = client.compile(module, replicas, partitions);
  try {
    const std::string saved = r.program->serialize();
    if (!store_.store(key, std::as_bytes(std::span(saved)))) {
      r.note = "it is not kept on disk: " + std::to_string(saved.size()) +
               " bytes are too many (TLALOC_CACHE_BYTES), or can't be written";
    }
  } catch (const PluginError& e) {
    r.note = "it can't be kept on disk: " + e.info().message;
  }
  return r;
}

}  // namespace tlaloc::plugins
