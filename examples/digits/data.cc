#include "data.h"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

namespace digits {
namespace {

constexpr int kPixels = 64;

void append(const float* image, int label, Data& to) {
  to.pixels.insert(to.pixels.end(), image, image + kPixels);
  to.labels.push_back(label);
}

}  // namespace

Data read(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) throw std::runtime_error(path + ": can't be opened; run ./setup --data");
  Data data;
  char line[1024];
  for (int number = 1; gzgets(file.get(), line, sizeof line); ++number) {
    const char* at = line;
    const char* end = line + std::char_traits<char>::length(line);
    float image[kPixels];
    for (int i = 0; i <= kPixels; ++i) {
      double value = 0;
      const auto parsed = std::from_chars(at, end, value);
      const double most = i < kPixels ? 16 : 9;
      if (parsed.ec != std::errc() || value < 0 || value > most) {
        throw std::runtime_error(path + ":" + std::to_string(number) + ": field " +
                                 std::to_string(i + 1) + " is no number from 0 to " +
                                 std::to_string(static_cast<int>(most)));
      }
      if (i < kPixels)
        image[i] = static_cast<float>(value / 16);
      else
        append(image, static_cast<int>(value), data);
      at = parsed.ptr < end && *parsed.ptr == ',' ? parsed.ptr + 1 : parsed.ptr;
    }
  }
  if (data.labels.empty()) throw std::runtime_error(path + ": holds no images");
  return data;
}

Data shuffled(const Data& data, unsigned seed) {
  std::vector<int> order(data.labels.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(seed);
  // Not std::shuffle: its use of the generator differs between standard libraries.
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  Data result;
  for (int i : order) {
    append(data.pixels.data() + static_cast<std::size_t>(i) * kPixels,
           data.labels[static_cast<std::size_t>(i)], result);
  }
  return result;
}

Data part(const Data& data, int from, int to) {
  Data result;
  for (int i = from; i < to; ++i) {
    append(data.pixels.data() + static_cast<std::size_t>(i) * kPixels,
           data.labels[static_cast<std::size_t>(i)], result);
  }
  return result;
}

}  // namespace digits
