#include "tlaloc/lang/dlpack.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/base/error.h"
#include "tlaloc/lang/apply.h"

namespace tlaloc {
namespace {

dlpack::DataType type_of(DType type) {
  const auto bits = static_cast<std::uint8_t>(8 * byte_size(type));
  if (type == DType::boolean) return {dlpack::kBool, 8, 1};
  if (type == DType::bf16) return {dlpack::kBfloat, 16, 1};
  if (is_float(type)) return {dlpack::kFloat, bits, 1};
  return {is_signed_integer(type) ? dlpack::kInt : dlpack::kUInt, bits, 1};
}

DType dtype_of(const dlpack::DataType& type, core::Where where) {
  if (type.lanes == 1) {
    for (int k = 0; k < kDTypeCount; ++k) {
      const auto candidate = static_cast<DType>(k);
      if (is_complex(candidate)) continue;
      const dlpack::DataType have = type_of(candidate);
      if (have.code == type.code && have.bits == type.bits) return candidate;
    }
  }
  throw UserError({"TL-DLPACK-002", "from_dlpack",
                   "element type code " + std::to_string(type.code) + " of " +
                       std::to_string(type.bits) + " bits and " + std::to_string(type.lanes) +
                       " lanes is not supported",
                   "convert it before handing it over", core::user_place(where)});
}

/// What an exported tensor keeps alive.
template <class M>
struct Exported {
  M managed{};
  HostArray array;
  std::vector<std::int64_t> shape, strides;
};

template <class M>
M* export_array(HostArray array) {
  auto* e = new Exported<M>;
  e->array = std::move(array);
  e->shape = e->array.extents();
  e->strides.resize(e->shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = e->shape.size(); i-- > 0;) {
    e->strides[i] = stride;
    stride *= e->shape[i];
  }
  dlpack::Tensor& t = e->managed.tensor;
  t.data = const_cast<void*>(e->array.data());
  t.device = {dlpack::kCpu, 0};
  t.ndim = static_cast<std::int32_t>(e->shape.size());
  t.dtype = type_of(e->array.dtype());
  t.shape = e->shape.data();
  t.strides = e->strides.data();
  e->managed.context = e;
  e->managed.deleter = [](M* m) { delete static_cast<Exported<M>*>(m->context); };
  return &e->managed;
}

const HostArray& concrete(const core::Ref& x, core::Where where) {
  core::data(x, where);  // refuses a value of a trace
  return core::node(x).array();
}

/// Row-major without gaps. An axis of one element may have any stride.
bool is_dense(const dlpack::Tensor& t) {
  if (!t.strides) return true;
  std::int64_t stride = 1;
  for (std::int32_t i = t.ndim; i-- > 0;) {
    if (t.shape[i] != 1 && t.strides[i] != stride) return false;
    stride *= t.shape[i];
  }
  return true;
}

HostArray gathered(const dlpack::Tensor& t, const char* data, DType type, Extents extents) {
  HostArray out = HostArray::uninitialized(type, std::move(extents));
  const auto bytes = static_cast<std::size_t>(byte_size(type));
  auto* to = static_cast<char*>(out.mutable_data());
  std::vector<std::int64_t> index(static_cast<std::size_t>(t.ndim));
  for (std::int64_t n = 0; n < out.size(); ++n) {
    std::int64_t offset = 0, stride = 1;
    for (std::int32_t i = t.ndim; i-- > 0;) {
      offset += index[static_cast<std::size_t>(i)] * (t.strides ? t.strides[i] : stride);
      stride *= t.shape[i];
    }
    std::memcpy(to + static_cast<std::size_t>(n) * bytes,
                data + offset * static_cast<std::int64_t>(bytes), bytes);
    for (std::int32_t i = t.ndim; i-- > 0;) {
      if (++index[static_cast<std::size_t>(i)] < t.shape[i]) break;
      index[static_cast<std::size_t>(i)] = 0;
    }
  }
  return out;
}

void require_fields(bool holds, const char* what, core::Where where) {
  if (holds) return;
  throw UserError({"TL-DLPACK-004", "from_dlpack", std::string("the tensor has ") + what,
                   "check how it was exported", core::user_place(where)});
}

/// Any other byte is no bool to C++.
bool all_zero_or_one(const char* data, std::int64_t count) {
  return std::all_of(data, data + count, [](char c) { return c == 0 || c == 1; });
}

Imported import_tensor(const dlpack::Tensor& t, std::shared_ptr<const void> owner,
                       core::Where where) {
  if (t.device.type != dlpack::kCpu) {
    throw UserError({"TL-DLPACK-001", "from_dlpack",
                     "the memory is on device type " + std::to_string(t.device.type),
                     "copy it to the host first", core::user_place(where)});
  }
  const DType type = dtype_of(t.dtype, where);
  require_fields(t.ndim >= 0, "a negative number of axes", where);
  require_fields(t.ndim == 0 || t.shape, "no shape", where);
  Extents extents(t.shape, t.shape + t.ndim);
  Imported in;
  if (element_count(extents) == 0) {
    in.array = Array(core::make_concrete(HostArray(type, std::move(extents))));
    return in;
  }
  require_fields(t.data, "elements, but no memory", where);
  const char* data = static_cast<const char*>(t.data) + t.byte_offset;
  if (!is_dense(t))
    in.copied = "it is not row-major without gaps";
  else if (reinterpret_cast<std::uintptr_t>(data) % static_cast<std::size_t>(byte_size(type)) != 0)
    in.copied = "it is not aligned to its element type";
  else if (type == DType::boolean && !all_zero_or_one(data, element_count(extents)))
    in.copied = "it holds bytes other than 0 and 1 as bools";
  if (!in.copied) {
    in.array = Array(
        core::make_concrete(HostArray::external(type, std::move(extents), data, std::move(owner))));
    return in;
  }
  HostArray copy = gathered(t, data, type, std::move(extents));
  if (type == DType::boolean) {
    auto* bytes = static_cast<unsigned char*>(copy.mutable_data());
    for (std::int64_t i = 0; i < copy.size(); ++i) bytes[i] = bytes[i] != 0;
  }
  in.array = Array(core::make_concrete(std::move(copy)));
  return in;
}

template <class M>
Imported import_managed(M* managed, core::Where where) {
  if (!managed) {
    throw UserError(
        {"TL-VALUE-002", "from_dlpack", "the pointer is null", "", core::user_place(where)});
  }
  std::shared_ptr<const void> owner(managed, [managed](const void*) {
    if (managed->deleter) managed->deleter(managed);
  });
  return import_tensor(managed->tensor, std::move(owner), where);
}

}  // namespace

dlpack::ManagedVersioned* to_dlpack(const core::Ref& x, Where where) {
  auto* m = export_array<dlpack::ManagedVersioned>(concrete(x, where));
  m->version = dlpack::kVersion;
  m->flags = dlpack::kReadOnly;
  return m;
}

dlpack::Managed* to_dlpack_unversioned(const core::Ref& x, Where where) {
  HostArray copy = concrete(x, where);
  copy.mutable_data();  // the value is shared, so this copies
  return export_array<dlpack::Managed>(std::move(copy));
}

Imported from_dlpack(dlpack::ManagedVersioned* managed, Where where) {
  return core::with_place(where, [&] {
    if (managed && managed->version.major != dlpack::kVersion.major) {
      const std::uint32_t major = managed->version.major;
      // By the ABI only the deleter may be relied on.
      if (managed->deleter) managed->deleter(managed);
      throw UserError({"TL-DLPACK-003", "from_dlpack",
                       "DLPack version " + std::to_string(major) + ", supported is 1",
                       "export with a version that both know", core::user_place(where)});
    }
    return import_managed(managed, where);
  });
}

Imported from_dlpack(dlpack::Managed* managed, Where where) {
  return core::with_place(where, [&] { return import_managed(managed, where); });
}

}  // namespace tlaloc
