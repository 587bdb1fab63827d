// Arrays as NumPy saves them: one as .npy, several with names as .npz.
//
// Read: versions 1.0, 2.0 and 3.0, both byte orders, C and Fortran order, every DType. What
// ml_dtypes' bfloat16 is saved as, '<V2', is read as bf16. Written: the bytes that numpy.save
// writes for the same array.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tlaloc/base/host_array.h"

namespace tlaloc::io {

/// The array in the bytes of a .npy file; `name` is where errors say it is. UserError TL-NPY-001
/// for what is no such file, TL-NPY-002 for an element type that no DType is.
HostArray parse_npy(std::span<const std::byte> file, const std::string& name);
/// What numpy.save writes.
std::vector<std::byte> npy_bytes(const HostArray& array);

/// EnvironmentError TL-FILE-001, and what parse_npy throws.
HostArray read_npy(const std::string& path);
/// EnvironmentError TL-FILE-001.
void write_npy(const std::string& path, const HostArray& array);

using NamedArrays = std::vector<std::pair<std::string, HostArray>>;
/// The arrays of an .npz archive, in its order. Errors of parse_npy; UserError TL-ZIP-001 for what
/// is no archive, and TL-NPY-001 for entries that are no arrays or names that occur twice;
/// EnvironmentError TL-MEM-001.
NamedArrays parse_npz(std::span<const std::byte> file, const std::string& name);
/// EnvironmentError TL-FILE-001, and what parse_npz throws.
NamedArrays read_npz(const std::string& path);

enum class NpzPacking { stored, deflated };  ///< numpy.savez, numpy.savez_compressed
/// EnvironmentError TL-FILE-001; UserError TL-ZIP-002 above 4 GB, TL-NPY-003 for names that occur
/// twice or are no UTF-8.
void write_npz(const std::string& path, const NamedArrays& arrays,
               NpzPacking packing = NpzPacking::stored);

}  // namespace tlaloc::io
