// The part of the PJRT C API that Tlaloc uses, declared here so that the library builds without any
// plugin's header. Layouts are those of API 0.81, the oldest that is supported; the interface only
// ever adds fields, and every structure carries its size. tests/pjrt/layout_test.cc compares each
// offset with the header of the xla-cpu-pjrt wheel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tlaloc::plugins::c {

inline constexpr int kMajorVersion = 0, kOldestMinorVersion = 81;

// Things of the plugin.
struct Error;
struct Event;
struct Client;
struct Device;
struct DeviceDescription;
struct Memory;
struct Executable;
struct LoadedExecutable;
struct Buffer;
struct SerializedExecutable;
struct TopologyDescription;

/// Positions in the table of functions behind the version.
enum class Function : int {
  Error_Destroy = 0,
  Error_Message = 1,
  Error_GetCode = 2,
  Plugin_Initialize = 3,
  Plugin_Attributes = 4,
  Event_Destroy = 5,
  Event_IsReady = 6,
  Event_Await = 8,
  Event_OnReady = 9,
  Client_Create = 10,
  Client_PlatformName = 12,
  Client_PlatformVersion = 14,
  Client_AddressableDevices = 16,
  Client_Compile = 20,
  Client_BufferFromHostBuffer = 22,
  DeviceDescription_Kind = 26,
  Device_GetDescription = 29,
  Executable_Destroy = 40,
  Executable_NumOutputs = 44,
  Executable_GetCostAnalysis = 46,
  Executable_Serialize = 49,
  LoadedExecutable_Destroy = 50,
  LoadedExecutable_GetExecutable = 51,
  LoadedExecutable_Execute = 55,
  Executable_DeserializeAndLoad = 56,
  Buffer_Destroy = 58,
  Buffer_ToHostBuffer = 70,
  Buffer_ReadyEvent = 72,
  Buffer_UnsafePointer = 73,
  TopologyDescription_Create = 82,
  TopologyDescription_Destroy = 83,
  TopologyDescription_GetDeviceDescriptions = 86,
  Compile = 89,
  Executable_GetCompiledMemoryStats = 96,
};

struct Version {
  std::size_t struct_size;
  void* extension_start;
  int major_version, minor_version;
};
struct Api {
  std::size_t struct_size;
  void* extension_start;
  Version version;
  void* functions[1];  ///< as many as struct_size says
};

enum NamedValueType : int { kString = 0, kInt64, kInt64List, kFloat, kBool };
struct NamedValue {
  std::size_t struct_size;
  void* extension_start;
  const char* name;
  std::size_t name_size;
  NamedValueType type;
  union {
    const char* string_value;
    std::int64_t int64_value;
    const std::int64_t* int64_array_value;
    float float_value;
    bool bool_value;
  };
  std::size_t value_size;
};

/// Element types by their number.
enum BufferType : int {
  kPred = 1,
  kS8,
  kS16,
  kS32,
  kS64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kF32,
  kF64,
  kBf16
};
enum HostBufferSemantics : int { kImmutableZeroCopy = 2, kMutableZeroCopy };

// Arguments: each starts with its size and a chain of extensions that is not used.
#define TLALOC_PJRT_HEAD   \
  std::size_t struct_size; \
  void* extension_start;

struct Error_Destroy {
  TLALOC_PJRT_HEAD
  Error* error;
};
struct Error_Message {
  TLALOC_PJRT_HEAD
  const Error* error;
  const char* message;
  std::size_t message_size;
};
struct Error_GetCode {
  TLALOC_PJRT_HEAD
  const Error* error;
  int code;
};
struct Plugin_Initialize {
  TLALOC_PJRT_HEAD
};
struct Plugin_Attributes {
  TLALOC_PJRT_HEAD
  const NamedValue* attributes;
  std::size_t num_attributes;
};
struct Event_Destroy {
  TLALOC_PJRT_HEAD
  Event* event;
};
struct Event_IsReady {
  TLALOC_PJRT_HEAD
  Event* event;
  bool is_ready;
};
struct Event_Await {
  TLALOC_PJRT_HEAD
  Event* event;
};
struct Event_OnReady {
  TLALOC_PJRT_HEAD
  Event* event;
  void (*callback)(Error* error, void* user_arg);
  void* user_arg;
};
struct Client_Create {
  TLALOC_PJRT_HEAD
  const NamedValue* create_options;
  std::size_t num_options;
  void* kv_get_callback;
  void* kv_get_user_arg;
  void* kv_put_callback;
  void* kv_put_user_arg;
  Client* client;
  void* kv_try_get_callback;
  void* kv_try_get_user_arg;
};
struct Client_PlatformName {
  TLALOC_PJRT_HEAD
  Client* client;
  const char* platform_name;
  std::size_t platform_name_size;
};
struct Client_PlatformVersion {
  TLALOC_PJRT_HEAD
  Client* client;
  const char* platform_version;
  std::size_t platform_version_size;
};
struct Client_AddressableDevices {
  TLALOC_PJRT_HEAD
  Client* client;
  Device* const* addressable_devices;
  std::size_t num_addressable_devices;
};
struct Program {
  TLALOC_PJRT_HEAD
  char* code;
  std::size_t code_size;
  const char* format;
  std::size_t format_size;
};
struct Client_Compile {
  TLALOC_PJRT_HEAD
  Client* client;
  const Program* program;
  const char* compile_options;
  std::size_t compile_options_size;
  LoadedExecutable* executable;
};
struct Client_BufferFromHostBuffer {
  TLALOC_PJRT_HEAD
  Client* client;
  const void* data;
  BufferType type;
  const std::int64_t* dims;
  std::size_t num_dims;
  const std::int64_t* byte_strides;
  std::size_t num_byte_strides;
  HostBufferSemantics host_buffer_semantics;
  Device* device;
  Memory* memory;
  void* device_layout;
  Event* done_with_host_buffer;
  Buffer* buffer;
};
struct DeviceDescription_Kind {
  TLALOC_PJRT_HEAD
  DeviceDescription* device_description;
  const char* device_kind;
  std::size_t device_kind_size;
};
struct Device_GetDescription {
  TLALOC_PJRT_HEAD
  Device* device;
  DeviceDescription* device_description;
};
struct Executable_Destroy {
  TLALOC_PJRT_HEAD
  Executable* executable;
};
struct Executable_NumOutputs {
  TLALOC_PJRT_HEAD
  Executable* executable;
  std::size_t num_outputs;
};
struct Executable_GetCostAnalysis {
  TLALOC_PJRT_HEAD
  Executable* executable;
  std::size_t num_properties;
  const NamedValue* properties;
};
struct Executable_GetCompiledMemoryStats {
  TLALOC_PJRT_HEAD
  Executable* executable;
  std::int64_t generated_code_size_in_bytes;
  std::int64_t argument_size_in_bytes;
  std::int64_t output_size_in_bytes;
  std::int64_t alias_size_in_bytes;
  std::int64_t temp_size_in_bytes;
  std::int64_t host_generated_code_size_in_bytes;
  std::int64_t host_argument_size_in_bytes;
  std::int64_t host_output_size_in_bytes;
  std::int64_t host_alias_size_in_bytes;
  std::int64_t host_temp_size_in_bytes;
  std::int64_t peak_memory_in_bytes;
};
struct Executable_Serialize {
  TLALOC_PJRT_HEAD
  const Executable* executable;
  const char* serialized_bytes;
  std::size_t serialized_bytes_size;
  SerializedExecutable* serialized_executable;
  void (*serialized_executable_deleter)(SerializedExecutable*);
};
struct Executable_DeserializeAndLoad {
  TLALOC_PJRT_HEAD
  Client* client;
  const char* serialized_executable;
  std::size_t serialized_executable_size;
  LoadedExecutable* loaded_executable;
  const char* overridden_serialized_compile_options;
  std::size_t overridden_serialized_compile_options_size;
};
struct LoadedExecutable_Destroy {
  TLALOC_PJRT_HEAD
  LoadedExecutable* executable;
};
struct LoadedExecutable_GetExecutable {
  TLALOC_PJRT_HEAD
  LoadedExecutable* loaded_executable;
  Executable* executable;
};
struct ExecuteOptions {
  TLALOC_PJRT_HEAD
  void** send_callbacks;
  void** recv_callbacks;
  std::size_t num_send_ops;
  std::size_t num_recv_ops;
  int launch_id;
  const std::int64_t* non_donatable_input_indices;
  std::size_t num_non_donatable_input_indices;
  void* context;
  const char* call_location;
  std::size_t num_tasks;
  int* task_ids;
  std::int64_t* incarnation_ids;
};
struct LoadedExecutable_Execute {
  TLALOC_PJRT_HEAD
  LoadedExecutable* executable;
  ExecuteOptions* options;
  Buffer* const* const* argument_lists;
  std::size_t num_devices;
  std::size_t num_args;
  Buffer** const* output_lists;
  Event** device_complete_events;
  Device* execute_device;
};
struct Buffer_Destroy {
  TLALOC_PJRT_HEAD
  Buffer* buffer;
};
/// Tiled: the other kind, of strides, is not used.
struct TiledLayout {
  TLALOC_PJRT_HEAD
  const std::int64_t* minor_to_major;
  std::size_t minor_to_major_size;
  const std::int64_t* tile_dims;
  const std::size_t* tile_dim_sizes;
  std::size_t num_tiles;
};
enum MemoryLayoutType : int { kTiled = 0 };
struct MemoryLayout {
  TLALOC_PJRT_HEAD
  TiledLayout tiled;
  MemoryLayoutType type;
};
struct Buffer_ToHostBuffer {
  TLALOC_PJRT_HEAD
  Buffer* src;
  MemoryLayout* host_layout;
  void* dst;
  std::size_t dst_size;
  Event* event;
};
struct Buffer_ReadyEvent {
  TLALOC_PJRT_HEAD
  Buffer* buffer;
  Event* event;
};
struct Buffer_UnsafePointer {
  TLALOC_PJRT_HEAD
  Buffer* buffer;
  std::uintptr_t buffer_pointer;
};
struct TopologyDescription_Create {
  TLALOC_PJRT_HEAD
  const char* topology_name;
  std::size_t topology_name_size;
  const NamedValue* create_options;
  std::size_t num_options;
  TopologyDescription* topology;
};
struct TopologyDescription_Destroy {
  TLALOC_PJRT_HEAD
  TopologyDescription* topology;
};
struct TopologyDescription_GetDeviceDescriptions {
  TLALOC_PJRT_HEAD
  const TopologyDescription* topology;
  DeviceDescription* const* descriptions;
  std::size_t num_descriptions;
};
struct Compile {
  TLALOC_PJRT_HEAD
  const TopologyDescription* topology;
  const Program* program;
  const char* compile_options;
  std::size_t compile_options_size;
  Client* client;
  Executable* executable;
};
#undef TLALOC_PJRT_HEAD

/// The size that a structure says of itself: up to the end of its last field.
template <class T>
inline constexpr std::size_t kStructSize = sizeof(T);
template <>
inline constexpr std::size_t kStructSize<Error_GetCode> =
    offsetof(Error_GetCode, code) + sizeof(int);
template <>
inline constexpr std::size_t kStructSize<Event_IsReady> =
    offsetof(Event_IsReady, is_ready) + sizeof(bool);
template <>
inline constexpr std::size_t kStructSize<MemoryLayout> = offsetof(MemoryLayout, type) + sizeof(int);

}  // namespace tlaloc::plugins::c
