// Reads a file and writes it anew, for the scripts beside this to compare with reference programs.
//
// usage: io_convert npy IN OUT
//        io_convert safetensors IN OUT [BYTES_OF_A_SHARD]
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "tlaloc/io/npy.h"
#include "tlaloc/io/safetensors.h"

namespace {

using namespace tlaloc;

std::vector<io::TensorSpec> specs_of(const io::TensorFile& file) {
  return {file.tensors().begin(), file.tensors().end()};
}
io::TensorSource source_of(const io::TensorFile& file) {
  return [&](std::size_t i) { return file.tensors()[i].bytes; };
}

int convert(const std::vector<std::string>& arguments) {
  const std::string format = arguments.at(0), in = arguments.at(1), out = arguments.at(2);
  if (format == "npy") {
    io::write_npy(out, io::read_npy(in));
  } else if (format == "safetensors") {
    const io::Safetensors s = io::open_safetensors(in);
    io::write_safetensors(out, specs_of(s.tensors), source_of(s.tensors),
                          {.metadata = s.metadata,
                           .max_shard_bytes = arguments.size() > 3 ? std::stoll(arguments[3]) : 0});
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
