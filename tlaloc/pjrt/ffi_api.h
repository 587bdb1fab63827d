// The part of XLA's foreign function interface that Tlaloc uses, and of the extension of the PJRT C
// API that it comes by, declared here for the same reasons as c_api.h. Layouts are those of version
// 0.1, to which later ones only add; tests/pjrt/ffi_layout_test.cc compares each offset with the
// header of jaxlib's wheel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tlaloc::plugins::ffi {

// Things of the plugin.
struct Error;

struct ExtensionBase {
  std::size_t struct_size;
  int type;
  ExtensionBase* next;
};

/// What handlers say of themselves. A plugin whose version is older refuses to find the handler, so
/// it is the oldest that has what is used.
inline constexpr int kMajorVersion = 0, kMinorVersion = 1;
struct Version {
  std::size_t struct_size;
  ExtensionBase* extension_start;
  int major_version, minor_version;
};
struct Metadata {
  std::size_t struct_size;
  Version version;
  std::uint32_t traits;
};
inline constexpr int kMetadataExtension = 1;
struct MetadataExtension {
  ExtensionBase base;
  Metadata* metadata;
};

inline constexpr int kInternalError = 13;
struct Error_Create {
  std::size_t struct_size;
  ExtensionBase* extension_start;
  const char* message;
  int code;
};
struct Api {
  std::size_t struct_size;
  ExtensionBase* extension_start;
  Version version;
  const void* internal;
  Error* (*create_error)(Error_Create*);
};

/// Element types by their number.
enum DataType : int {
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
  kBf16 = 16
};
struct Buffer {
  std::size_t struct_size;
  ExtensionBase* extension_start;
  DataType dtype;
  void* data;
  std::int64_t rank;
  std::int64_t* dims;
};
struct ByteSpan {
  const char* data;
  std::size_t size;
};
inline constexpr int kBuffer = 1, kString = 4, kExecute = 3;
/// Arguments or results.
struct Values {
  std::size_t struct_size;
  ExtensionBase* extension_start;
  std::int64_t size;
  int* types;
  void** values;
};
struct Attributes {
  std::size_t struct_size;
  ExtensionBase* extension_start;
  std::int64_t size;
  int* types;
  ByteSpan** names;
  void** values;
};
struct CallFrame {
  std::size_t struct_size;
  ExtensionBase* extension_start;
  const Api* api;
  void* context;
  int stage;
  Values arguments, results;
  Attributes attributes;
};
using Handler = Error*(CallFrame*);

// ---- the extension of the PJRT C API ----

inline constexpr int kPjrtExtension = 5;
struct RegisterHandler {
  std::size_t struct_size;
  const char* target;
  std::size_t target_size;
  Handler* handler;
  const char* platform;
  std::size_t platform_size;
  std::uint32_t traits;
};
struct PjrtExtension {
  ExtensionBase base;
  void* register_type;
  void* add_user_data;
  void* register_handler;  ///< takes a RegisterHandler, returns an error of the PJRT C API
};

}  // namespace tlaloc::plugins::ffi
