#include "tlaloc/pjrt/client.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "tlaloc/pjrt/compile_options.h"

namespace tlaloc::plugins {
namespace {

using c::Function;

c::BufferType buffer_type(DType t) {
  switch (t) {
    case DType::boolean:
      return c::kPred;
    case DType::i8:
      return c::kS8;
    case DType::i16:
      return c::kS16;
    case DType::i32:
      return c::kS32;
    case DType::i64:
      return c::kS64;
    case DType::u8:
      return c::kU8;
    case DType::u16:
      return c::kU16;
    case DType::u32:
      return c::kU32;
    case DType::u64:
      return c::kU64;
    case DType::f16:
      return c::kF16;
    case DType::bf16:
      return c::kBf16;
    case DType::f32:
      return c::kF32;
    case DType::f64:
      return c::kF64;
    default:
      throw_unsupported_dtype(t);
  }
}

}  // namespace

// ---- events ----

PluginEvent::~PluginEvent() {
  plugin_.call_quietly(Function::Event_Destroy, c::Event_Destroy{0, nullptr, event_});
}
bool PluginEvent::ready() const {
  c::Event_IsReady args{};
  args.event = event_;
  plugin_.call(Function::Event_IsReady, args, what_);
  return args.is_ready;
}
void PluginEvent::wait() const {
  c::Event_Await args{};
  args.event = event_;
  plugin_.call(Function::Event_Await, args, what_);
}

// ---- arrays ----

DeviceArray::~DeviceArray() {
  client_.plugin().call_quietly(Function::Buffer_Destroy, c::Buffer_Destroy{0, nullptr, buffer_});
}
HostArray DeviceArray::read(DType dtype, const Extents& extents) const {
  HostArray a = HostArray::uninitialized(dtype, extents);
  if (a.bytes() == 0) return a;
  // Row-major, whatever the order on the device is: without a layout a plugin copies in its own.
  Extents minor_to_major(extents.size());
  for (std::size_t i = 0; i < extents.size(); ++i) {
    minor_to_major[i] = static_cast<std::int64_t>(extents.size() - 1 - i);
  }
  c::MemoryLayout layout{};
  layout.struct_size = c::kStructSize<c::MemoryLayout>;
  layout.tiled.struct_size = c::kStructSize<c::TiledLayout>;
  layout.tiled.minor_to_major = minor_to_major.data();
  layout.tiled.minor_to_major_size = minor_to_major.size();
  layout.type = c::kTiled;
  c::Buffer_ToHostBuffer args{};
  args.src = buffer_;
  args.host_layout = &layout;
  args.dst = a.mutable_data();
  args.dst_size = a.bytes();
  client_.plugin().call(Function::Buffer_ToHostBuffer, args, "read");
  PluginEvent(client_.plugin(), args.event, "read").wait();
  return a;
}
std::uintptr_t DeviceArray::address() const {
  c::Buffer_UnsafePointer args{};
  args.buffer = buffer_;
  client_.plugin().call(Function::Buffer_UnsafePointer, args, "upload");
  return args.buffer_pointer;
}
runtime::Event DeviceArray::ready() const {
  c::Buffer_ReadyEvent args{};
  args.buffer = buffer_;
  client_.plugin().call(Function::Buffer_ReadyEvent, args, "run");
  return runtime::Event(std::make_shared<PluginEvent>(client_.plugin(), args.event, "run"));
}

// ---- programs ----

Program::Program(const Client& client, c::LoadedExecutable* executable, std::int64_t devices)
    : client_(client), loaded_(executable), devices_(devices) {
  c::LoadedExecutable_GetExecutable get{};
  get.loaded_executable = loaded_;
  client_.plugin().call(Function::LoadedExecutable_GetExecutable, get, "compile");
  code_.emplace(client_.plugin(), get.executable);
  output_count_ = code_->output_count();
}
Program::~Program() {
  code_.reset();
  client_.plugin().call_quietly(Function::LoadedExecutable_Destroy,
                                c::LoadedExecutable_Destroy{0, nullptr, loaded_});
}

namespace {

/// One call of Execute, for any number of devices.
std::vector<std::vector<c::Buffer*>> execute(const Plugin& plugin, c::LoadedExecutable* executable,
                                             std::span<const std::vector<c::Buffer*>> args,
                                             std::span<const std::int64_t> keep,
                                             std::size_t output_count,
                                             std::vector<c::Event*>& events) {
  std::vector<std::vector<c::Buffer*>> outputs(args.size(), std::vector<c::Buffer*>(output_count));
  std::vector<c::Buffer* const*> argument_lists;
  std::vector<c::Buffer**> output_lists;
  for (std::size_t d = 0; d < args.size(); ++d) {
    argument_lists.push_back(args[d].data());
    output_lists.push_back(outputs[d].data());
  }
  events.assign(args.size(), nullptr);
  c::ExecuteOptions options{};
  options.struct_size = c::kStructSize<c::ExecuteOptions>;
  options.non_donatable_input_indices = keep.data();
  options.num_non_donatable_input_indices = keep.size();
  c::LoadedExecutable_Execute run{};
  run.executable = executable;
  run.options = &options;
  run.argument_lists = argument_lists.data();
  run.num_devices = args.size();
  run.num_args = args[0].size();
  run.output_lists = output_lists.data();
  run.device_complete_events = events.data();
  plugin.call(Function::LoadedExecutable_Execute, run, "run");
  return outputs;
}

}  // namespace

Program::Outputs Program::run(std::span<const DeviceArray* const> args,
                              std::span<const std::int64_t> keep) const {
  std::vector<c::Buffer*> buffers;
  buffers.reserve(args.size());
  for (const DeviceArray* a : args) buffers.push_back(a->get());
  std::vector<c::Event*> events;
  const auto outputs =
      execute(client_.plugin(), loaded_, std::span(&buffers, 1), keep, output_count_, events);
  Outputs out;
  out.done = runtime::Event(std::make_shared<PluginEvent>(client_.plugin(), events[0], "run"));
  for (c::Buffer* b : outputs[0]) {
    out.arrays.push_back(std::make_shared<DeviceArray>(client_, b, client_.devices()[0]));
  }
  return out;
}

std::vector<Program::Outputs> Program::run_on_all(
    std::span<const std::vector<const DeviceArray*>> args) const {
  std::vector<std::vector<c::Buffer*>> buffers;
  std::vector<std::int64_t> keep;
  for (const auto& of_device : args) {
    std::vector<c::Buffer*>& list = buffers.emplace_back();
    for (const DeviceArray* a : of_device) list.push_back(a->get());
  }
  for (std::size_t i = 0; i < buffers.at(0).size(); ++i)
    keep.push_back(static_cast<std::int64_t>(i));
  std::vector<c::Event*> events;
  const auto outputs = execute(client_.plugin(), loaded_, buffers, keep, output_count_, events);
  std::vector<Outputs> all(outputs.size());
  for (std::size_t d = 0; d < outputs.size(); ++d) {
    all[d].done = runtime::Event(std::make_shared<PluginEvent>(client_.plugin(), events[d], "run"));
    for (c::Buffer* b : outputs[d]) {
      all[d].arrays.push_back(std::make_shared<DeviceArray>(client_, b, client_.devices()[d]));
    }
  }
  return all;
}

// ---- client ----

const Client& Client::get(const Plugin& plugin, const CreateOptions& given) {
  const CreateOptions options = with_defaults(plugin.path(), given);
  static std::mutex mutex;
  static auto* clients =
      new std::map<std::pair<const Plugin*, CreateOptions>, std::unique_ptr<Client>>;
  std::lock_guard lock(mutex);
  auto& client = (*clients)[{&plugin, options}];
  if (!client) client.reset(new Client(plugin, options));
  return *client;
}

Client::Client(const Plugin& plugin, const CreateOptions& options)
    : plugin_(plugin), options_(options) {
  const std::vector<c::NamedValue> values = named_values(options_);
  c::Client_Create create{};
  create.create_options = values.data();
  create.num_options = values.size();
  plugin_.call(Function::Client_Create, create, "Client_Create");
  client_ = create.client;
  c::Client_PlatformName name{};
  name.client = client_;
  plugin_.call(Function::Client_PlatformName, name, "Client_PlatformName");
  platform_.assign(name.platform_name, name.platform_name_size);
  computes_on_host_ = platform_ == "cpu";
  c::Client_AddressableDevices devices{};
  devices.client = client_;
  plugin_.call(Function::Client_AddressableDevices, devices, "Client_AddressableDevices");
  for (std::size_t i = 0; i < devices.num_addressable_devices; ++i) {
    handles_.push_back(devices.addressable_devices[i]);
    devices_.push_back({"pjrt:" + platform_, static_cast<int>(i)});
  }
  if (devices_.empty()) {
    throw EnvironmentError({"TL-PJRT-002", plugin_.path(), "it has no device", "", {}});
  }
}

std::string Client::platform_version() const {
  c::Client_PlatformVersion v{};
  v.client = client_;
  plugin_.call(Function::Client_PlatformVersion, v, "Client_PlatformVersion");
  return {v.platform_version, v.platform_version_size};
}
std::string Client::device_kind(std::size_t ordinal) const {
  c::Device_GetDescription get{};
  get.device = handles_.at(ordinal);
  plugin_.call(Function::Device_GetDescription, get, "Device_GetDescription");
  c::DeviceDescription_Kind kind{};
  kind.device_description = get.device_description;
  plugin_.call(Function::DeviceDescription_Kind, kind, "DeviceDescription_Kind");
  return {kind.device_kind, kind.device_kind_size};
}

namespace {

/// An array that a plugin uses.
struct Held {
  const Plugin& plugin;
  HostArray array;
};

/// Holds the array until `done` happens.
void hold_until(const Plugin& plugin, c::Event* done, const HostArray& array) {
  const PluginEvent event(plugin, done, "upload");
  auto held = std::make_unique<Held>(plugin, array);
  c::Event_OnReady args{};
  args.event = done;
  args.callback = [](c::Error* error, void* of_event) {
    const std::unique_ptr<Held> h(static_cast<Held*>(of_event));
    h->plugin.forget(error);  // which is that of the buffer, too
  };
  args.user_arg = held.get();
  plugin.call(Function::Event_OnReady, args, "upload");
  held.release();  // NOLINT: the callback deletes it, or has done so
}

}  // namespace

std::shared_ptr<DeviceArray> Client::upload(HostArray array, std::size_t ordinal) const {
  c::Client_BufferFromHostBuffer args{};
  args.client = client_;
  args.data = array.data();
  args.type = buffer_type(array.dtype());
  args.dims = array.extents().data();
  args.num_dims = array.extents().size();
  // A device that can't use the host's memory takes both for "until the transfer completes".
  args.host_buffer_semantics = array.unique() ? c::kMutableZeroCopy : c::kImmutableZeroCopy;
  args.device = handles_.at(ordinal);
  plugin_.call(Function::Client_BufferFromHostBuffer, args, "upload");
  auto uploaded = std::make_shared<DeviceArray>(*this, args.buffer, devices_[ordinal]);
  hold_until(plugin_, args.done_with_host_buffer, array);
  const auto bytes = static_cast<std::int64_t>(array.bytes());
  const bool in_place = computes_on_host_ && bytes > 0 &&
                        uploaded->address() == reinterpret_cast<std::uintptr_t>(array.data());
  (in_place ? uploaded->uploaded_.in_place : uploaded->uploaded_.copied) = bytes;
  (in_place ? in_place_ : copied_) += bytes;
  return uploaded;
}

std::shared_ptr<const Program> Client::compile(std::string_view module, std::int64_t replicas,
                                               std::int64_t partitions) const {
  const c::Program program = module_argument(module);
  const std::string options = compile_options(replicas, partitions);
  c::Client_Compile args{};
  args.client = client_;
  args.program = &program;
  args.compile_options = options.data();
  args.compile_options_size = options.size();
  plugin_.call(Function::Client_Compile, args, "compile");
  return std::make_shared<const Program>(*this, args.executable, replicas * partitions);
}

std::shared_ptr<const Program> Client::load(std::string_view serialized,
                                            std::int64_t devices) const {
  c::Executable_DeserializeAndLoad args{};
  args.client = client_;
  args.serialized_executable = serialized.data();
  args.serialized_executable_size = serialized.size();
  plugin_.call(Function::Executable_DeserializeAndLoad, args, "load");
  return std::make_shared<const Program>(*this, args.loaded_executable, devices);
}

}  // namespace tlaloc::plugins
