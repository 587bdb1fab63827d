// The layouts that tlaloc/pjrt declares against the header of the xla-cpu-pjrt wheel, field by
// field, at compile time.
#include <pjrt_c_api.h>

#include "tlaloc/pjrt/c_api.h"
#include "tlaloc/pjrt/plugin.h"

namespace tlaloc::plugins {
namespace {

#define SAME_SIZE(ours, theirs) static_assert(c::kStructSize<c::ours> == theirs##_STRUCT_SIZE)
#define SAME_FIELD(ours, theirs, field)                                \
  static_assert(offsetof(c::ours, field) == offsetof(theirs, field) && \
                sizeof(c::ours::field) == sizeof(theirs::field))
#define SAME_FUNCTION(name)                                                        \
  static_assert(offsetof(c::Api, functions) +                                      \
                    static_cast<std::size_t>(c::Function::name) * sizeof(void*) == \
                offsetof(PJRT_Api, PJRT_##name))
#define SAME_VALUE(ours, theirs) static_assert(static_cast<int>(ours) == static_cast<int>(theirs))

static_assert(PJRT_API_MAJOR == c::kMajorVersion && PJRT_API_MINOR == c::kOldestMinorVersion);

SAME_SIZE(TopologyDescription_Create, PJRT_TopologyDescription_Create_Args);
SAME_FIELD(TopologyDescription_Create, PJRT_TopologyDescription_Create_Args, struct_size);
SAME_FIELD(TopologyDescription_Create, PJRT_TopologyDescription_Create_Args, extension_start);
SAME_FIELD(TopologyDescription_Create, PJRT_TopologyDescription_Create_Args, topology_name);
SAME_FIELD(TopologyDescription_Create, PJRT_TopologyDescription_Create_Args, topology_name_size);
SAME_FIELD(TopologyDescription_Create, PJRT_TopologyDescription_Create_Args, create_options);
SAME_FIELD(TopologyDescription_Create, PJRT_TopologyDescription_Create_Args, num_options);
SAME_FIELD(TopologyDescription_Create, PJRT_TopologyDescription_Create_Args, topology);
SAME_FUNCTION(TopologyDescription_Create);
SAME_SIZE(TopologyDescription_Destroy, PJRT_TopologyDescription_Destroy_Args);
SAME_FIELD(TopologyDescription_Destroy, PJRT_TopologyDescription_Destroy_Args, struct_size);
SAME_FIELD(TopologyDescription_Destroy, PJRT_TopologyDescription_Destroy_Args, extension_start);
SAME_FIELD(TopologyDescription_Destroy, PJRT_TopologyDescription_Destroy_Args, topology);
SAME_FUNCTION(TopologyDescription_Destroy);
SAME_SIZE(TopologyDescription_GetDeviceDescriptions,
          PJRT_TopologyDescription_GetDeviceDescriptions_Args);
SAME_FIELD(TopologyDescription_GetDeviceDescriptions,
           PJRT_TopologyDescription_GetDeviceDescriptions_Args, struct_size);
SAME_FIELD(TopologyDescription_GetDeviceDescriptions,
           PJRT_TopologyDescription_GetDeviceDescriptions_Args, extension_start);
SAME_FIELD(TopologyDescription_GetDeviceDescriptions,
           PJRT_TopologyDescription_GetDeviceDescriptions_Args, topology);
SAME_FIELD(TopologyDescription_GetDeviceDescriptions,
           PJRT_TopologyDescription_GetDeviceDescriptions_Args, descriptions);
SAME_FIELD(TopologyDescription_GetDeviceDescriptions,
           PJRT_TopologyDescription_GetDeviceDescriptions_Args, num_descriptions);
SAME_FUNCTION(TopologyDescription_GetDeviceDescriptions);
SAME_SIZE(Compile, PJRT_Compile_Args);
SAME_FIELD(Compile, PJRT_Compile_Args, struct_size);
SAME_FIELD(Compile, PJRT_Compile_Args, extension_start);
SAME_FIELD(Compile, PJRT_Compile_Args, topology);
SAME_FIELD(Compile, PJRT_Compile_Args, program);
SAME_FIELD(Compile, PJRT_Compile_Args, compile_options);
SAME_FIELD(Compile, PJRT_Compile_Args, compile_options_size);
SAME_FIELD(Compile, PJRT_Compile_Args, client);
SAME_FIELD(Compile, PJRT_Compile_Args, executable);
SAME_FUNCTION(Compile);
SAME_SIZE(NamedValue, PJRT_NamedValue);
SAME_FIELD(NamedValue, PJRT_NamedValue, struct_size);
SAME_FIELD(NamedValue, PJRT_NamedValue, extension_start);
SAME_FIELD(NamedValue, PJRT_NamedValue, name);
SAME_FIELD(NamedValue, PJRT_NamedValue, name_size);
SAME_FIELD(NamedValue, PJRT_NamedValue, type);
SAME_FIELD(NamedValue, PJRT_NamedValue, string_value);
SAME_FIELD(NamedValue, PJRT_NamedValue, int64_value);
SAME_FIELD(NamedValue, PJRT_NamedValue, int64_array_value);
SAME_FIELD(NamedValue, PJRT_NamedValue, float_value);
SAME_FIELD(NamedValue, PJRT_NamedValue, bool_value);
SAME_FIELD(NamedValue, PJRT_NamedValue, value_size);
SAME_SIZE(Error_Destroy, PJRT_Error_Destroy_Args);
SAME_FIELD(Error_Destroy, PJRT_Error_Destroy_Args, struct_size);
SAME_FIELD(Error_Destroy, PJRT_Error_Destroy_Args, extension_start);
SAME_FIELD(Error_Destroy, PJRT_Error_Destroy_Args, error);
SAME_SIZE(Error_Message, PJRT_Error_Message_Args);
SAME_FIELD(Error_Message, PJRT_Error_Message_Args, struct_size);
SAME_FIELD(Error_Message, PJRT_Error_Message_Args, extension_start);
SAME_FIELD(Error_Message, PJRT_Error_Message_Args, error);
SAME_FIELD(Error_Message, PJRT_Error_Message_Args, message);
SAME_FIELD(Error_Message, PJRT_Error_Message_Args, message_size);
SAME_SIZE(Error_GetCode, PJRT_Error_GetCode_Args);
SAME_FIELD(Error_GetCode, PJRT_Error_GetCode_Args, struct_size);
SAME_FIELD(Error_GetCode, PJRT_Error_GetCode_Args, extension_start);
SAME_FIELD(Error_GetCode, PJRT_Error_GetCode_Args, error);
SAME_FIELD(Error_GetCode, PJRT_Error_GetCode_Args, code);
SAME_SIZE(Plugin_Initialize, PJRT_Plugin_Initialize_Args);
SAME_FIELD(Plugin_Initialize, PJRT_Plugin_Initialize_Args, struct_size);
SAME_FIELD(Plugin_Initialize, PJRT_Plugin_Initialize_Args, extension_start);
SAME_SIZE(Plugin_Attributes, PJRT_Plugin_Attributes_Args);
SAME_FIELD(Plugin_Attributes, PJRT_Plugin_Attributes_Args, struct_size);
SAME_FIELD(Plugin_Attributes, PJRT_Plugin_Attributes_Args, extension_start);
SAME_FIELD(Plugin_Attributes, PJRT_Plugin_Attributes_Args, attributes);
SAME_FIELD(Plugin_Attributes, PJRT_Plugin_Attributes_Args, num_attributes);
SAME_SIZE(Event_Destroy, PJRT_Event_Destroy_Args);
SAME_FIELD(Event_Destroy, PJRT_Event_Destroy_Args, struct_size);
SAME_FIELD(Event_Destroy, PJRT_Event_Destroy_Args, extension_start);
SAME_FIELD(Event_Destroy, PJRT_Event_Destroy_Args, event);
SAME_SIZE(Event_IsReady, PJRT_Event_IsReady_Args);
SAME_FIELD(Event_IsReady, PJRT_Event_IsReady_Args, struct_size);
SAME_FIELD(Event_IsReady, PJRT_Event_IsReady_Args, extension_start);
SAME_FIELD(Event_IsReady, PJRT_Event_IsReady_Args, event);
SAME_FIELD(Event_IsReady, PJRT_Event_IsReady_Args, is_ready);
SAME_SIZE(Event_Await, PJRT_Event_Await_Args);
SAME_FIELD(Event_Await, PJRT_Event_Await_Args, struct_size);
SAME_FIELD(Event_Await, PJRT_Event_Await_Args, extension_start);
SAME_FIELD(Event_Await, PJRT_Event_Await_Args, event);
SAME_SIZE(Event_OnReady, PJRT_Event_OnReady_Args);
SAME_FIELD(Event_OnReady, PJRT_Event_OnReady_Args, struct_size);
SAME_FIELD(Event_OnReady, PJRT_Event_OnReady_Args, extension_start);
SAME_FIELD(Event_OnReady, PJRT_Event_OnReady_Args, event);
SAME_FIELD(Event_OnReady, PJRT_Event_OnReady_Args, callback);
SAME_FIELD(Event_OnReady, PJRT_Event_OnReady_Args, user_arg);
SAME_SIZE(Client_Create, PJRT_Client_Create_Args);
SAME_FIELD(Client_Create, PJRT_Client_Create_Args, struct_size);
SAME_FIELD(Client_Create, PJRT_Client_Create_Args, extension_start);
SAME_FIELD(Client_Create, PJRT_Client_Create_Args, create_options);
SAME_FIELD(Client_Create, PJRT_Client_Create_Args, num_options);
SAME_FIELD(Client_Create, PJRT_Client_Create_Args, kv_get_callback);
SAME_FIELD(Client_Create, PJRT_Client_Create_Args, kv_get_user_arg);
SAME_FIELD(Client_Create, PJRT_Client_Create_Args, kv_put_callback);
SAME_FIELD(Client_Create, PJRT_Client_Create_Args, kv_put_user_arg);
SAME_FIELD(Client_Create, PJRT_Client_Create_Args, client);
SAME_FIELD(Client_Create, PJRT_Client_Create_Args, kv_try_get_callback);
SAME_FIELD(Client_Create, PJRT_Client_Create_Args, kv_try_get_user_arg);
SAME_SIZE(Client_PlatformName, PJRT_Client_PlatformName_Args);
SAME_FIELD(Client_PlatformName, PJRT_Client_PlatformName_Args, struct_size);
SAME_FIELD(Client_PlatformName, PJRT_Client_PlatformName_Args, extension_start);
SAME_FIELD(Client_PlatformName, PJRT_Client_PlatformName_Args, client);
SAME_FIELD(Client_PlatformName, PJRT_Client_PlatformName_Args, platform_name);
SAME_FIELD(Client_PlatformName, PJRT_Client_PlatformName_Args, platform_name_size);
SAME_SIZE(Client_PlatformVersion, PJRT_Client_PlatformVersion_Args);
SAME_FIELD(Client_PlatformVersion, PJRT_Client_PlatformVersion_Args, struct_size);
SAME_FIELD(Client_PlatformVersion, PJRT_Client_PlatformVersion_Args, extension_start);
SAME_FIELD(Client_PlatformVersion, PJRT_Client_PlatformVersion_Args, client);
SAME_FIELD(Client_PlatformVersion, PJRT_Client_PlatformVersion_Args, platform_version);
SAME_FIELD(Client_PlatformVersion, PJRT_Client_PlatformVersion_Args, platform_version_size);
SAME_SIZE(Client_AddressableDevices, PJRT_Client_AddressableDevices_Args);
SAME_FIELD(Client_AddressableDevices, PJRT_Client_AddressableDevices_Args, struct_size);
SAME_FIELD(Client_AddressableDevices, PJRT_Client_AddressableDevices_Args, extension_start);
SAME_FIELD(Client_AddressableDevices, PJRT_Client_AddressableDevices_Args, client);
SAME_FIELD(Client_AddressableDevices, PJRT_Client_AddressableDevices_Args, addressable_devices);
SAME_FIELD(Client_AddressableDevices, PJRT_Client_AddressableDevices_Args, num_addressable_devices);
SAME_SIZE(Program, PJRT_Program);
SAME_FIELD(Program, PJRT_Program, struct_size);
SAME_FIELD(Program, PJRT_Program, extension_start);
SAME_FIELD(Program, PJRT_Program, code);
SAME_FIELD(Program, PJRT_Program, code_size);
SAME_FIELD(Program, PJRT_Program, format);
SAME_FIELD(Program, PJRT_Program, format_size);
SAME_SIZE(Client_Compile, PJRT_Client_Compile_Args);
SAME_FIELD(Client_Compile, PJRT_Client_Compile_Args, struct_size);
SAME_FIELD(Client_Compile, PJRT_Client_Compile_Args, extension_start);
SAME_FIELD(Client_Compile, PJRT_Client_Compile_Args, client);
SAME_FIELD(Client_Compile, PJRT_Client_Compile_Args, program);
SAME_FIELD(Client_Compile, PJRT_Client_Compile_Args, compile_options);
SAME_FIELD(Client_Compile, PJRT_Client_Compile_Args, compile_options_size);
SAME_FIELD(Client_Compile, PJRT_Client_Compile_Args, executable);
SAME_SIZE(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, struct_size);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, extension_start);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, client);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, data);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, type);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, dims);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, num_dims);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, byte_strides);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, num_byte_strides);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args,
           host_buffer_semantics);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, device);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, memory);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, device_layout);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args,
           done_with_host_buffer);
SAME_FIELD(Client_BufferFromHostBuffer, PJRT_Client_BufferFromHostBuffer_Args, buffer);
SAME_SIZE(DeviceDescription_Kind, PJRT_DeviceDescription_Kind_Args);
SAME_FIELD(DeviceDescription_Kind, PJRT_DeviceDescription_Kind_Args, struct_size);
SAME_FIELD(DeviceDescription_Kind, PJRT_DeviceDescription_Kind_Args, extension_start);
SAME_FIELD(DeviceDescription_Kind, PJRT_DeviceDescription_Kind_Args, device_description);
SAME_FIELD(DeviceDescription_Kind, PJRT_DeviceDescription_Kind_Args, device_kind);
SAME_FIELD(DeviceDescription_Kind, PJRT_DeviceDescription_Kind_Args, device_kind_size);
SAME_SIZE(Device_GetDescription, PJRT_Device_GetDescription_Args);
SAME_FIELD(Device_GetDescription, PJRT_Device_GetDescription_Args, struct_size);
SAME_FIELD(Device_GetDescription, PJRT_Device_GetDescription_Args, extension_start);
SAME_FIELD(Device_GetDescription, PJRT_Device_GetDescription_Args, device);
SAME_FIELD(Device_GetDescription, PJRT_Device_GetDescription_Args, device_description);
SAME_SIZE(Executable_Destroy, PJRT_Executable_Destroy_Args);
SAME_FIELD(Executable_Destroy, PJRT_Executable_Destroy_Args, struct_size);
SAME_FIELD(Executable_Destroy, PJRT_Executable_Destroy_Args, extension_start);
SAME_FIELD(Executable_Destroy, PJRT_Executable_Destroy_Args, executable);
SAME_SIZE(Executable_NumOutputs, PJRT_Executable_NumOutputs_Args);
SAME_FIELD(Executable_NumOutputs, PJRT_Executable_NumOutputs_Args, struct_size);
SAME_FIELD(Executable_NumOutputs, PJRT_Executable_NumOutputs_Args, extension_start);
SAME_FIELD(Executable_NumOutputs, PJRT_Executable_NumOutputs_Args, executable);
SAME_FIELD(Executable_NumOutputs, PJRT_Executable_NumOutputs_Args, num_outputs);
SAME_SIZE(Executable_GetCostAnalysis, PJRT_Executable_GetCostAnalysis_Args);
SAME_FIELD(Executable_GetCostAnalysis, PJRT_Executable_GetCostAnalysis_Args, struct_size);
SAME_FIELD(Executable_GetCostAnalysis, PJRT_Executable_GetCostAnalysis_Args, extension_start);
SAME_FIELD(Executable_GetCostAnalysis, PJRT_Executable_GetCostAnalysis_Args, executable);
SAME_FIELD(Executable_GetCostAnalysis, PJRT_Executable_GetCostAnalysis_Args, num_properties);
SAME_FIELD(Executable_GetCostAnalysis, PJRT_Executable_GetCostAnalysis_Args, properties);
SAME_SIZE(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           struct_size);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           extension_start);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           executable);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           generated_code_size_in_bytes);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           argument_size_in_bytes);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           output_size_in_bytes);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           alias_size_in_bytes);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           temp_size_in_bytes);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           host_generated_code_size_in_bytes);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           host_argument_size_in_bytes);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           host_output_size_in_bytes);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           host_alias_size_in_bytes);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           host_temp_size_in_bytes);
SAME_FIELD(Executable_GetCompiledMemoryStats, PJRT_Executable_GetCompiledMemoryStats_Args,
           peak_memory_in_bytes);
SAME_SIZE(Executable_Serialize, PJRT_Executable_Serialize_Args);
SAME_FIELD(Executable_Serialize, PJRT_Executable_Serialize_Args, struct_size);
SAME_FIELD(Executable_Serialize, PJRT_Executable_Serialize_Args, extension_start);
SAME_FIELD(Executable_Serialize, PJRT_Executable_Serialize_Args, executable);
SAME_FIELD(Executable_Serialize, PJRT_Executable_Serialize_Args, serialized_bytes);
SAME_FIELD(Executable_Serialize, PJRT_Executable_Serialize_Args, serialized_bytes_size);
SAME_FIELD(Executable_Serialize, PJRT_Executable_Serialize_Args, serialized_executable);
SAME_FIELD(Executable_Serialize, PJRT_Executable_Serialize_Args, serialized_executable_deleter);
SAME_SIZE(Executable_DeserializeAndLoad, PJRT_Executable_DeserializeAndLoad_Args);
SAME_FIELD(Executable_DeserializeAndLoad, PJRT_Executable_DeserializeAndLoad_Args, struct_size);
SAME_FIELD(Executable_DeserializeAndLoad, PJRT_Executable_DeserializeAndLoad_Args, extension_start);
SAME_FIELD(Executable_DeserializeAndLoad, PJRT_Executable_DeserializeAndLoad_Args, client);
SAME_FIELD(Executable_DeserializeAndLoad, PJRT_Executable_DeserializeAndLoad_Args,
           serialized_executable);
SAME_FIELD(Executable_DeserializeAndLoad, PJRT_Executable_DeserializeAndLoad_Args,
           serialized_executable_size);
SAME_FIELD(Executable_DeserializeAndLoad, PJRT_Executable_DeserializeAndLoad_Args,
           loaded_executable);
SAME_FIELD(Executable_DeserializeAndLoad, PJRT_Executable_DeserializeAndLoad_Args,
           overridden_serialized_compile_options);
SAME_FIELD(Executable_DeserializeAndLoad, PJRT_Executable_DeserializeAndLoad_Args,
           overridden_serialized_compile_options_size);
SAME_SIZE(LoadedExecutable_Destroy, PJRT_LoadedExecutable_Destroy_Args);
SAME_FIELD(LoadedExecutable_Destroy, PJRT_LoadedExecutable_Destroy_Args, struct_size);
SAME_FIELD(LoadedExecutable_Destroy, PJRT_LoadedExecutable_Destroy_Args, extension_start);
SAME_FIELD(LoadedExecutable_Destroy, PJRT_LoadedExecutable_Destroy_Args, executable);
SAME_SIZE(LoadedExecutable_GetExecutable, PJRT_LoadedExecutable_GetExecutable_Args);
SAME_FIELD(LoadedExecutable_GetExecutable, PJRT_LoadedExecutable_GetExecutable_Args, struct_size);
SAME_FIELD(LoadedExecutable_GetExecutable, PJRT_LoadedExecutable_GetExecutable_Args,
           extension_start);
SAME_FIELD(LoadedExecutable_GetExecutable, PJRT_LoadedExecutable_GetExecutable_Args,
           loaded_executable);
SAME_FIELD(LoadedExecutable_GetExecutable, PJRT_LoadedExecutable_GetExecutable_Args, executable);
SAME_SIZE(ExecuteOptions, PJRT_ExecuteOptions);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, struct_size);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, extension_start);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, send_callbacks);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, recv_callbacks);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, num_send_ops);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, num_recv_ops);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, launch_id);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, non_donatable_input_indices);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, num_non_donatable_input_indices);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, context);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, call_location);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, num_tasks);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, task_ids);
SAME_FIELD(ExecuteOptions, PJRT_ExecuteOptions, incarnation_ids);
SAME_SIZE(LoadedExecutable_Execute, PJRT_LoadedExecutable_Execute_Args);
SAME_FIELD(LoadedExecutable_Execute, PJRT_LoadedExecutable_Execute_Args, struct_size);
SAME_FIELD(LoadedExecutable_Execute, PJRT_LoadedExecutable_Execute_Args, extension_start);
SAME_FIELD(LoadedExecutable_Execute, PJRT_LoadedExecutable_Execute_Args, executable);
SAME_FIELD(LoadedExecutable_Execute, PJRT_LoadedExecutable_Execute_Args, options);
SAME_FIELD(LoadedExecutable_Execute, PJRT_LoadedExecutable_Execute_Args, argument_lists);
SAME_FIELD(LoadedExecutable_Execute, PJRT_LoadedExecutable_Execute_Args, num_devices);
SAME_FIELD(LoadedExecutable_Execute, PJRT_LoadedExecutable_Execute_Args, num_args);
SAME_FIELD(LoadedExecutable_Execute, PJRT_LoadedExecutable_Execute_Args, output_lists);
SAME_FIELD(LoadedExecutable_Execute, PJRT_LoadedExecutable_Execute_Args, device_complete_events);
SAME_FIELD(LoadedExecutable_Execute, PJRT_LoadedExecutable_Execute_Args, execute_device);
SAME_SIZE(Buffer_Destroy, PJRT_Buffer_Destroy_Args);
SAME_FIELD(Buffer_Destroy, PJRT_Buffer_Destroy_Args, struct_size);
SAME_FIELD(Buffer_Destroy, PJRT_Buffer_Destroy_Args, extension_start);
SAME_FIELD(Buffer_Destroy, PJRT_Buffer_Destroy_Args, buffer);
SAME_SIZE(TiledLayout, PJRT_Buffer_MemoryLayout_Tiled);
SAME_FIELD(TiledLayout, PJRT_Buffer_MemoryLayout_Tiled, struct_size);
SAME_FIELD(TiledLayout, PJRT_Buffer_MemoryLayout_Tiled, extension_start);
SAME_FIELD(TiledLayout, PJRT_Buffer_MemoryLayout_Tiled, minor_to_major);
SAME_FIELD(TiledLayout, PJRT_Buffer_MemoryLayout_Tiled, minor_to_major_size);
SAME_FIELD(TiledLayout, PJRT_Buffer_MemoryLayout_Tiled, tile_dims);
SAME_FIELD(TiledLayout, PJRT_Buffer_MemoryLayout_Tiled, tile_dim_sizes);
SAME_FIELD(TiledLayout, PJRT_Buffer_MemoryLayout_Tiled, num_tiles);
SAME_SIZE(MemoryLayout, PJRT_Buffer_MemoryLayout);
SAME_FIELD(MemoryLayout, PJRT_Buffer_MemoryLayout, struct_size);
SAME_FIELD(MemoryLayout, PJRT_Buffer_MemoryLayout, extension_start);
SAME_FIELD(MemoryLayout, PJRT_Buffer_MemoryLayout, tiled);
SAME_FIELD(MemoryLayout, PJRT_Buffer_MemoryLayout, type);
SAME_VALUE(c::kTiled, PJRT_Buffer_MemoryLayout_Type_Tiled);
SAME_SIZE(Buffer_ToHostBuffer, PJRT_Buffer_ToHostBuffer_Args);
SAME_FIELD(Buffer_ToHostBuffer, PJRT_Buffer_ToHostBuffer_Args, struct_size);
SAME_FIELD(Buffer_ToHostBuffer, PJRT_Buffer_ToHostBuffer_Args, extension_start);
SAME_FIELD(Buffer_ToHostBuffer, PJRT_Buffer_ToHostBuffer_Args, src);
SAME_FIELD(Buffer_ToHostBuffer, PJRT_Buffer_ToHostBuffer_Args, host_layout);
SAME_FIELD(Buffer_ToHostBuffer, PJRT_Buffer_ToHostBuffer_Args, dst);
SAME_FIELD(Buffer_ToHostBuffer, PJRT_Buffer_ToHostBuffer_Args, dst_size);
SAME_FIELD(Buffer_ToHostBuffer, PJRT_Buffer_ToHostBuffer_Args, event);
SAME_SIZE(Buffer_ReadyEvent, PJRT_Buffer_ReadyEvent_Args);
SAME_FIELD(Buffer_ReadyEvent, PJRT_Buffer_ReadyEvent_Args, struct_size);
SAME_FIELD(Buffer_ReadyEvent, PJRT_Buffer_ReadyEvent_Args, extension_start);
SAME_FIELD(Buffer_ReadyEvent, PJRT_Buffer_ReadyEvent_Args, buffer);
SAME_FIELD(Buffer_ReadyEvent, PJRT_Buffer_ReadyEvent_Args, event);
SAME_SIZE(Buffer_UnsafePointer, PJRT_Buffer_UnsafePointer_Args);
SAME_FIELD(Buffer_UnsafePointer, PJRT_Buffer_UnsafePointer_Args, struct_size);
SAME_FIELD(Buffer_UnsafePointer, PJRT_Buffer_UnsafePointer_Args, extension_start);
SAME_FIELD(Buffer_UnsafePointer, PJRT_Buffer_UnsafePointer_Args, buffer);
SAME_FIELD(Buffer_UnsafePointer, PJRT_Buffer_UnsafePointer_Args, buffer_pointer);

SAME_FUNCTION(Error_Destroy);
SAME_FUNCTION(Error_Message);
SAME_FUNCTION(Error_GetCode);
SAME_FUNCTION(Plugin_Initialize);
SAME_FUNCTION(Plugin_Attributes);
SAME_FUNCTION(Event_Destroy);
SAME_FUNCTION(Event_IsReady);
SAME_FUNCTION(Event_Await);
SAME_FUNCTION(Event_OnReady);
SAME_FUNCTION(Client_Create);
SAME_FUNCTION(Client_PlatformName);
SAME_FUNCTION(Client_PlatformVersion);
SAME_FUNCTION(Client_AddressableDevices);
SAME_FUNCTION(Client_Compile);
SAME_FUNCTION(Client_BufferFromHostBuffer);
SAME_FUNCTION(DeviceDescription_Kind);
SAME_FUNCTION(Device_GetDescription);
SAME_FUNCTION(Executable_Destroy);
SAME_FUNCTION(Executable_NumOutputs);
SAME_FUNCTION(Executable_GetCostAnalysis);
SAME_FUNCTION(Executable_Serialize);
SAME_FUNCTION(LoadedExecutable_Destroy);
SAME_FUNCTION(LoadedExecutable_GetExecutable);
SAME_FUNCTION(LoadedExecutable_Execute);
SAME_FUNCTION(Executable_DeserializeAndLoad);
SAME_FUNCTION(Buffer_Destroy);
SAME_FUNCTION(Buffer_ToHostBuffer);
SAME_FUNCTION(Buffer_ReadyEvent);
SAME_FUNCTION(Buffer_UnsafePointer);
SAME_FUNCTION(Executable_GetCompiledMemoryStats);

static_assert(offsetof(c::Api, version) == offsetof(PJRT_Api, pjrt_api_version));
SAME_FIELD(Version, PJRT_Api_Version, major_version);
SAME_FIELD(Version, PJRT_Api_Version, minor_version);

SAME_VALUE(c::kPred, PJRT_Buffer_Type_PRED);
SAME_VALUE(c::kS8, PJRT_Buffer_Type_S8);
SAME_VALUE(c::kS64, PJRT_Buffer_Type_S64);
SAME_VALUE(c::kU8, PJRT_Buffer_Type_U8);
SAME_VALUE(c::kU64, PJRT_Buffer_Type_U64);
SAME_VALUE(c::kF16, PJRT_Buffer_Type_F16);
SAME_VALUE(c::kF32, PJRT_Buffer_Type_F32);
SAME_VALUE(c::kF64, PJRT_Buffer_Type_F64);
SAME_VALUE(c::kBf16, PJRT_Buffer_Type_BF16);
SAME_VALUE(c::kString, PJRT_NamedValue_kString);
SAME_VALUE(c::kInt64, PJRT_NamedValue_kInt64);
SAME_VALUE(c::kInt64List, PJRT_NamedValue_kInt64List);
SAME_VALUE(c::kFloat, PJRT_NamedValue_kFloat);
SAME_VALUE(c::kBool, PJRT_NamedValue_kBool);
SAME_VALUE(c::kImmutableZeroCopy, PJRT_HostBufferSemantics_kImmutableZeroCopy);
SAME_VALUE(c::kMutableZeroCopy, PJRT_HostBufferSemantics_kMutableZeroCopy);
SAME_VALUE(Status::ok, PJRT_Error_Code_OK);
SAME_VALUE(Status::invalid_argument, PJRT_Error_Code_INVALID_ARGUMENT);
SAME_VALUE(Status::resource_exhausted, PJRT_Error_Code_RESOURCE_EXHAUSTED);
SAME_VALUE(Status::unimplemented, PJRT_Error_Code_UNIMPLEMENTED);
SAME_VALUE(Status::unauthenticated, PJRT_Error_Code_UNAUTHENTICATED);

}  // namespace
}  // namespace tlaloc::plugins
