#include "plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace digits {

void write_curve(const std::string& path, const std::string& title, const std::vector<double>& y) {
  constexpr double kWidth = 640, kHeight = 400, kLeft = 70, kTop = 40, kRight = 20, kBottom = 50;
  const auto [low, high] = std::minmax_element(y.begin(), y.end());
  const double bottom = std::floor(std::log10(std::max(*low, 1e-9)));
  const double top = std::max(std::ceil(std::log10(std::max(*high, 1e-9))), bottom + 1);
  auto x_of = [&](double i) {
    return kLeft +
           i / std::max<double>(1, static_cast<double>(y.size()) - 1) * (kWidth - kLeft - kRight);
  };
  auto y_of = [&](double log) {
    return kTop + (top - log) / (top - bottom) * (kHeight - kTop - kBottom);
  };
  std::ofstream out(path);
  char text[256];
  auto put = [&](const char* format, auto... values) {
    std::snprintf(text, sizeof text, format, values...);
    out << text << '\n';
  };
  put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
      "font-family=\"sans-serif\" font-size=\"13\">",
      kWidth, kHeight);
  out << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  put("<text x=\"%.0f\" y=\"24\" font-size=\"15\">%s</text>", kLeft, title.c_str());
  for (double e = bottom; e <= top; ++e) {
    put("<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>", kLeft, y_of(e),
        kWidth - kRight, y_of(e));
    put("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>", kLeft - 8, y_of(e) + 4,
        std::pow(10, e));
  }
  put("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">step (last: %zu)</text>",
      (kLeft + kWidth - kRight) / 2, kHeight - 14, y.size());
  out << "<polyline fill=\"none\" stroke=\"#1b6ca8\" stroke-width=\"1.5\" points=\"";
  for (std::size_t i = 0; i < y.size(); ++i) {
    std::snprintf(text, sizeof text, "%.1f,%.1f ", x_of(static_cast<double>(i)),
                  y_of(std::log10(std::max(y[i], 1e-9))));
    out << text;
  }
  out << "\"/>\n</svg>\n";
  if (!out.flush()) throw std::runtime_error(path + ": can't be written");
}

}  // namespace digits
