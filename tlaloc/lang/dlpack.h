// Exchange of arrays with other libraries in this process by DLPack.
//
//   auto* managed = tl::to_dlpack(x.ref());            // hand it over; its deleter frees it
//   tl::Imported in = tl::from_dlpack(managed);        // takes it over
//   auto y = tl::as<tl::Tensor<float, batch, 784>>(in.array);
#pragma once

#include "tlaloc/lang/dlpack_abi.h"
#include "tlaloc/lang/tensor.h"

namespace tlaloc {

/// An array that came from another library.
struct Imported {
  Array array;
  /// Null when the memory is shared; otherwise why it had to be copied.
  const char* copied = nullptr;
};

/// Shares the value's memory, marked read-only: values never change. The receiver calls the
/// deleter. UserError TL-TRACE-001 for a value of a trace.
dlpack::ManagedVersioned* to_dlpack(const core::Ref& x, Where where = Where::current());
/// The ABI before version 1.0 can't say that memory is read-only: the receiver gets a copy.
dlpack::Managed* to_dlpack_unversioned(const core::Ref& x, Where where = Where::current());

/// Takes ownership of `managed`, also when it fails; shares row-major host memory and copies the
/// rest. While it is shared the other library must not write to it.
/// UserError TL-DLPACK-001 (device), TL-DLPACK-002 (element type), TL-DLPACK-003 (ABI version),
/// TL-DLPACK-004 (a field that makes no sense), TL-SIZE-001 (a negative extent).
Imported from_dlpack(dlpack::ManagedVersioned* managed, Where where = Where::current());
Imported from_dlpack(dlpack::Managed* managed, Where where = Where::current());

}  // namespace tlaloc
