// A plugin's client, its devices, arrays on them, and programs.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tlaloc/base/host_array.h"
#include "tlaloc/pjrt/create_options.h"
#include "tlaloc/pjrt/device_code.h"
#include "tlaloc/pjrt/plugin.h"
#include "tlaloc/runtime/buffer.h"

namespace tlaloc::plugins {

class Client;

/// A completion that the plugin reports.
class PluginEvent final : public runtime::Event::State {
 public:
  /// Takes the event over; `what` is for errors.
  PluginEvent(const Plugin& plugin, c::Event* event, const char* what)
      : plugin_(plugin), event_(event), what_(what) {}
  ~PluginEvent() override;
  PluginEvent(const PluginEvent&) = delete;
  PluginEvent& operator=(const PluginEvent&) = delete;
  bool ready() const override;
  void wait() const override;  ///< PluginError

 private:
  const Plugin& plugin_;
  c::Event* event_;
  const char* what_;
};

/// Bytes of arrays that came from the host: those that the device uses where they lie, and those
/// that were copied to it.
struct Uploaded {
  std::int64_t in_place = 0, copied = 0;
  Uploaded& operator+=(const Uploaded& o) {
    in_place += o.in_place;
    copied += o.copied;
    return *this;
  }
  bool operator==(const Uploaded&) const = default;
};

/// An array on a device.
class DeviceArray final : public runtime::DeviceMemory {
 public:
  DeviceArray(const Client& client, c::Buffer* buffer, const runtime::Device& device)
      : client_(client), buffer_(buffer), device_(device) {}
  ~DeviceArray() override;
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  const runtime::Device& device() const override { return device_; }
  const Client& client() const { return client_; }
  c::Buffer* get() const { return buffer_; }
  /// Nothing for what was computed there.
  const Uploaded& uploaded() const { return uploaded_; }
  HostArray read(DType dtype, const Extents& extents) const override;
  /// When it has been computed or copied.
  runtime::Event ready() const;

 private:
  friend Client;
  /// Where it lies, as far as the host can tell.
  std::uintptr_t address() const;

  const Client& client_;
  c::Buffer* buffer_;
  runtime::Device device_;
  Uploaded uploaded_;
};

/// A compiled module on its devices. Immutable; safe to use from any thread.
class Program {
 public:
  Program(const Client& client, c::LoadedExecutable* executable, std::int64_t devices);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  std::size_t output_count() const { return output_count_; }
  std::int64_t devices() const { return devices_; }
  struct Outputs {
    std::vector<std::shared_ptr<DeviceArray>> arrays;
    runtime::Event done;
  };
  /// Starts a run on device 0, or on each of its devices, with arguments by device. `keep`:
  /// arguments whose memory stays as it is, whatever the module allows; without it, of all.
  /// PluginError.
  Outputs run(std::span<const DeviceArray* const> args, std::span<const std::int64_t> keep) const;
  std::vector<Outputs> run_on_all(std::span<const std::vector<const DeviceArray*>> args) const;

  // As DeviceCode.
  std::optional<MemoryStats> memory() const { return code_->memory(); }
  std::optional<std::map<std::string, double>> costs() const { return code_->costs(); }
  std::string serialize() const { return code_->serialize(); }

 private:
  const Client& client_;
  c::LoadedExecutable* loaded_;
  std::optional<DeviceCode> code_;
  std::size_t output_count_ = 0;
  std::int64_t devices_;
};

/// Lives until the process ends. Safe to use from any thread.
class Client {
 public:
  /// The client of that plugin and those options, with_defaults, made on first use. PluginError.
  static const Client& get(const Plugin& plugin, const CreateOptions& options = {});

  const Plugin& plugin() const { return plugin_; }
  const CreateOptions& options() const { return options_; }
  /// "cpu", "cuda", "tpu", …
  const std::string& platform() const { return platform_; }
  std::string platform_version() const;
  std::span<const runtime::Device> devices() const { return devices_; }
  std::string device_kind(std::size_t ordinal) const;

  /// Hands an array to a device. One that computes in the host's memory uses it where it lies if it
  /// is aligned as the device wants it; otherwise it is copied, and the copy goes on after the
  /// return. Either way the array is held, so that nobody writes to it, until the device says that
  /// it is done: its owner is released by a thread of the plugin then. Only an array that was moved
  /// here by its last holder may be overwritten, by a run that it is donated to. PluginError.
  std::shared_ptr<DeviceArray> upload(HostArray array, std::size_t ordinal = 0) const;
  /// Of all uploads so far.
  Uploaded uploaded() const { return {.in_place = in_place_, .copied = copied_}; }
  /// From StableHLO text or a portable artifact, for so many replicas of so many partitions, by
  /// Shardy's shardings. PluginError.
  std::shared_ptr<const Program> compile(std::string_view module, std::int64_t replicas = 1,
                                         std::int64_t partitions = 1) const;
  std::shared_ptr<const Program> load(std::string_view serialized, std::int64_t devices = 1) const;

 private:
  Client(const Plugin& plugin, const CreateOptions& options);

  const Plugin& plugin_;
  CreateOptions options_;
  c::Client* client_ = nullptr;
  std::string platform_;
  bool computes_on_host_ = false;
  mutable std::atomic<std::int64_t> in_place_ = 0, copied_ = 0;
  std::vector<c::Device*> handles_;
  std::vector<runtime::Device> devices_;
};

}  // namespace tlaloc::plugins
