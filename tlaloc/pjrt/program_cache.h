// Programs that plugins compiled, kept on disk.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tlaloc/cache/store.h"
#include "tlaloc/pjrt/client.h"

namespace tlaloc::plugins {

/// Programs under all that decides about them: the module and the options of its compilation, the
/// plugin's file, versions and options, its devices and this processor. A program that is damaged,
/// or that the plugin refuses, is compiled again. Safe to use from any thread.
class ProgramCache {
 public:
  explicit ProgramCache(const cache::Settings& settings) : store_(settings) {}
  /// That of the environment's settings at its first use.
  static ProgramCache& of_process();

  struct Program {
    std::shared_ptr<const plugins::Program> program;
    bool from_disk = false;
    /// Why it is not on disk, or what was there was not taken; or empty.
    std::string note;
  };
  /// From disk, or compiled and kept. Errors: as Client::compile.
  Program compile(const Client& client, std::string_view module, std::int64_t replicas = 1,
                  std::int64_t partitions = 1);

 private:
  cache::Store store_;
};

}  // namespace tlaloc::plugins
