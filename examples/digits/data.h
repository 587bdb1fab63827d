// The handwritten digits: 8x8 images with 17 grey levels and their labels.
#pragma once

#include <string>
#include <vector>

namespace digits {

struct Data {
  std::vector<float> pixels;  ///< row by row, 64 an image, scaled to [0, 1]
  std::vector<int> labels;    ///< 0 to 9
  int count() const { return static_cast<int>(labels.size()); }
};

/// Reads the gzipped CSV: 64 pixels from 0 to 16 and the label on each line. Throws
/// std::runtime_error with the file and line of what is wrong.
Data read(const std::string& path);

/// The images in another order, the same for every run.
Data shuffled(const Data& data, unsigned seed);

/// Images [from, to).
Data part(const Data& data, int from, int to);

}  // namespace digits
