// The layouts that tlaloc/pjrt/ffi_api.h declares against the header of jaxlib's wheel, field by
// field, and its extension of PJRT against the header of the xla-cpu-pjrt wheel, at compile time.
#include <pjrt_c_api.h>
#include <xla/ffi/api/c_api.h>

#include "tlaloc/pjrt/ffi_api.h"

namespace tlaloc::plugins {
namespace {

#define SAME_PLACE(ours, field, theirs, their_field)                          \
  static_assert(offsetof(ffi::ours, field) == offsetof(theirs, their_field)); \
  static_assert(sizeof(ffi::ours::field) == sizeof(theirs::their_field))
#define SAME_FIELD(ours, theirs, field) SAME_PLACE(ours, field, theirs, field)
#define SAME_VALUE(ours, theirs) \
  static_assert(static_cast<int>(ffi::ours) == static_cast<int>(theirs))

SAME_FIELD(ExtensionBase, XLA_FFI_Extension_Base, struct_size);
SAME_FIELD(ExtensionBase, XLA_FFI_Extension_Base, type);
SAME_FIELD(ExtensionBase, XLA_FFI_Extension_Base, next);
SAME_FIELD(Version, XLA_FFI_Api_Version, major_version);
SAME_FIELD(Version, XLA_FFI_Api_Version, minor_version);
SAME_PLACE(Metadata, version, XLA_FFI_Metadata, api_version);
SAME_FIELD(Metadata, XLA_FFI_Metadata, traits);
SAME_FIELD(MetadataExtension, XLA_FFI_Metadata_Extension, metadata);
SAME_FIELD(Error_Create, XLA_FFI_Error_Create_Args, struct_size);
SAME_FIELD(Error_Create, XLA_FFI_Error_Create_Args, extension_start);
SAME_FIELD(Error_Create, XLA_FFI_Error_Create_Args, message);
SAME_PLACE(Error_Create, code, XLA_FFI_Error_Create_Args, errc);
static_assert(sizeof(ffi::Error_Create) == sizeof(XLA_FFI_Error_Create_Args));
SAME_PLACE(Api, create_error, XLA_FFI_Api, XLA_FFI_Error_Create);
SAME_FIELD(Buffer, XLA_FFI_Buffer, dtype);
SAME_FIELD(Buffer, XLA_FFI_Buffer, data);
SAME_FIELD(Buffer, XLA_FFI_Buffer, rank);
SAME_FIELD(Buffer, XLA_FFI_Buffer, dims);
SAME_PLACE(ByteSpan, data, XLA_FFI_ByteSpan, ptr);
SAME_PLACE(ByteSpan, size, XLA_FFI_ByteSpan, len);
SAME_FIELD(Values, XLA_FFI_Args, size);
SAME_FIELD(Values, XLA_FFI_Args, types);
SAME_PLACE(Values, values, XLA_FFI_Args, args);
SAME_FIELD(Values, XLA_FFI_Rets, size);
SAME_FIELD(Values, XLA_FFI_Rets, types);
SAME_PLACE(Values, values, XLA_FFI_Rets, rets);
SAME_FIELD(Attributes, XLA_FFI_Attrs, size);
SAME_FIELD(Attributes, XLA_FFI_Attrs, types);
SAME_FIELD(Attributes, XLA_FFI_Attrs, names);
SAME_PLACE(Attributes, values, XLA_FFI_Attrs, attrs);
SAME_FIELD(CallFrame, XLA_FFI_CallFrame, extension_start);
SAME_FIELD(CallFrame, XLA_FFI_CallFrame, api);
SAME_FIELD(CallFrame, XLA_FFI_CallFrame, stage);
SAME_PLACE(CallFrame, arguments, XLA_FFI_CallFrame, args);
SAME_PLACE(CallFrame, results, XLA_FFI_CallFrame, rets);
SAME_PLACE(CallFrame, attributes, XLA_FFI_CallFrame, attrs);

SAME_VALUE(kMajorVersion, XLA_FFI_API_MAJOR);
static_assert(ffi::kMinorVersion <= XLA_FFI_API_MINOR);
SAME_VALUE(kMetadataExtension, XLA_FFI_Extension_Metadata);
SAME_VALUE(kInternalError, XLA_FFI_Error_Code_INTERNAL);
SAME_VALUE(kBuffer, XLA_FFI_ArgType_BUFFER);
SAME_VALUE(kBuffer, XLA_FFI_RetType_BUFFER);
SAME_VALUE(kString, XLA_FFI_AttrType_STRING);
SAME_VALUE(kExecute, XLA_FFI_ExecutionStage_EXECUTE);
SAME_VALUE(kPred, XLA_FFI_DataType_PRED);
SAME_VALUE(kS8, XLA_FFI_DataType_S8);
SAME_VALUE(kS64, XLA_FFI_DataType_S64);
SAME_VALUE(kU8, XLA_FFI_DataType_U8);
SAME_VALUE(kU64, XLA_FFI_DataType_U64);
SAME_VALUE(kF16, XLA_FFI_DataType_F16);
SAME_VALUE(kF32, XLA_FFI_DataType_F32);
SAME_VALUE(kF64, XLA_FFI_DataType_F64);
SAME_VALUE(kBf16, XLA_FFI_DataType_BF16);
SAME_VALUE(kPjrtExtension, PJRT_Extension_Type_FFI);
static_assert(sizeof(ffi::ExtensionBase) == sizeof(PJRT_Extension_Base));

}  // namespace
}  // namespace tlaloc::plugins
