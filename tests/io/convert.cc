// Reads a file and writes it anew, for the scripts beside this to compare with reference programs.
//
// usage: io_convert npy IN OUT
//        io_convert npz IN OUT [deflated]
//        io_convert safetensors IN OUT [BYTES_OF_A_SHARD]
//        io_convert gguf IN OUT
//        io_convert dequantize IN.gguf FOLDER      each tensor as f32: FOLDER/0.npy, FOLDER/1.npy,
//        … io_convert quantize IN.npy OUT.gguf TYPE  an f32 array as the tensor x
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "tlaloc/io/dequantize.h"
#include "tlaloc/io/gguf.h"
#include "tlaloc/io/npy.h"
#include "tlaloc/io/safetensors.h"

namespace {

using namespace tlaloc;

std::vector<io::TensorSpec> specs_of(const io::TensorFile& file) {
  return {file.tensors().begin(), file.tensors().end()};
}

void quantize(const std::string& in, const std::string& out, const std::string& type) {
  const HostArray array = io::read_npy(in);
  const io::Storage storage = io::parse_storage(type).value();
  const std::size_t size = usize(io::storage_bytes(storage, array.extents()).value());
  std::vector<std::byte> bytes(size);
  io::quantize(storage, array.as<float>(), bytes, in);
  io::write_gguf(out, {}, {{"x", storage, array.extents()}},
                 [&](std::size_t) { return std::span<const std::byte>(bytes); });
}

int convert(const std::vector<std::string>& arguments) {
  const std::string format = arguments.at(0), in = arguments.at(1), out = arguments.at(2);
  if (format == "npy") {
    io::write_npy(out, io::read_npy(in));
  } else if (format == "npz") {
    io::write_npz(out, io::read_npz(in),
                  arguments.size() > 3 ? io::NpzPacking::deflated : io::NpzPacking::stored);
  } else if (format == "safetensors") {
    const io::Safetensors s = io::open_safetensors(in);
    std::vector<io::TensorSpec> specs = specs_of(s.tensors);
    io::sort_for_safetensors(specs);
    io::write_safetensors(out, specs,
                          [&](std::size_t i) { return s.tensors.at(specs[i].name).bytes; },
                          {.metadata = s.metadata,
                           .max_shard_bytes = arguments.size() > 3 ? std::stoll(arguments[3]) : 0});
  } else if (format == "gguf") {
    const io::Gguf g = io::open_gguf(in);
    io::write_gguf(out, g.metadata, specs_of(g.tensors),
                   [&](std::size_t i) { return g.tensors.tensors()[i].bytes; });
  } else if (format == "dequantize") {
    const io::Gguf g = io::open_gguf(in);
    for (std::size_t i = 3; i < arguments.size(); ++i) {
      const HostArray array = io::to_f32(g.tensors.at(arguments[i]));
      io::write_npy(out + "/" + std::to_string(i - 3) + ".npy", array);
    }
  } else if (format == "quantize") {
    quantize(in, out, arguments.at(3));
  } else {
    std::cerr << "no such format\n";
    return 2;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return convert({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::cerr << e.what() << "\n";
    return 1;
  }
}
