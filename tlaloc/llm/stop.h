// Ends text at strings, however the text comes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tlaloc::llm {

/// Takes text in pieces and gives it on up to the first stop string: the one that ends first, and
/// of those that end there the one that begins first. What may become one is held back, and no
/// more. Takes time in proportion to the text, times the number of stop strings.
class StopStrings {
 public:
  /// UserError TL-GENERATE-001 for one that is empty or no UTF-8, so that what is given of UTF-8
  /// never ends within a character.
  explicit StopStrings(const std::vector<std::string>& strings);

  /// What the text makes certain; nothing behind a stop string.
  std::string push(std::string_view text);
  /// What was held back, once no more text comes.
  std::string finish();
  /// Whether a stop string was there; if so, which.
  bool stopped() const { return stopped_; }
  const std::string& stopped_by() const { return stopped_by_; }

 private:
  /// Matches a string along a text (Knuth, Morris and Pratt, 1977).
  struct Matcher {
    std::string string;
    std::vector<std::size_t> borders;  ///< of each prefix: its longest border's length
    std::size_t matched = 0;           ///< of the string, at the end of the text so far

    explicit Matcher(std::string s);
    /// Whether the string ends with this byte.
    bool push(char c);
  };
  std::vector<Matcher> matchers_;
  std::string held_;
  bool stopped_ = false;
  std::string stopped_by_;
};

}  // namespace tlaloc::llm
