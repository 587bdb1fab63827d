#include "tlaloc/text/decoders.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tlaloc/text/normalizers.h"
#include "tlaloc/text/utf8.h"

namespace tlaloc::text {
namespace {

void replace_all(std::string& s, std::string_view from, std::string_view to) {
  if (from.empty()) return;
  std::string out;
  std::size_t done = 0;
  for (std::size_t at; (at = s.find(from, done)) != std::string::npos; done = at + from.size()) {
    out.append(s, done, at - done);
    out += to;
  }
  if (done == 0) return;
  out.append(s, done);
  s = std::move(out);
}

/// Undoes the spaces that splitting English into words leaves.
void clean_up(std::string& s) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kPairs{{
      {" .", "."},
      {" ?", "?"},
      {" !", "!"},
      {" ,", ","},
      {" ' ", "'"},
      {" n't", "n't"},
      {" 'm", "'m"},
      {" do not", " don't"},
      {" 's", "'s"},
      {" 've", "'ve"},
      {" 're", "'re"},
  }};
  for (const auto& [from, to] : kPairs) replace_all(s, from, to);
}

/// How many bytes at the end are the start of a character that more bytes may complete.
std::size_t open_bytes(std::string_view bytes) {
  for (std::size_t n = 1; n <= std::min<std::size_t>(3, bytes.size()); ++n) {
    const auto c = static_cast<unsigned char>(bytes[bytes.size() - n]);
    if (c >= 0x80 && c < 0xC0) continue;
    const std::size_t length = c < 0xC2 || c > 0xF4 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    return length > n ? n : 0;
  }
  return 0;
}

class ByteLevelDecoder : public Decoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) {
      const std::size_t before = bytes.size();
      for (const char *p = token.data(), *end = p + token.size(); p != end;) {
        const int b = char_to_byte(next_char(p));
        if (b < 0) {
          bytes.resize(before);
          bytes += token;
          break;
        }
        bytes += static_cast<char>(b);
      }
    }
    tokens.assign(1, is_utf8(bytes) ? std::move(bytes) : replace_ill_formed(bytes));
  }
  OpenEnd open_end(std::span<const std::string_view> tokens) const override {
    std::string bytes;
    for (std::size_t i = tokens.size(); i-- > 0 && bytes.size() < 3;) {
      std::string own;
      for (const char *p = tokens[i].data(), *end = p + tokens[i].size(); p != end;) {
        const int b = char_to_byte(next_char(p));
        if (b < 0) return {0, open_bytes(bytes) > 0};
        own += static_cast<char>(b);
      }
      bytes.insert(0, own);
    }
    return {0, open_bytes(bytes) > 0};
  }
};

class WordPieceDecoder : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup)
      : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) {
        if (tokens[i].starts_with(prefix_)) {
          tokens[i].erase(0, prefix_.size());
        } else {
          tokens[i].insert(0, 1, ' ');
        }
      }
      if (cleanup_) clean_up(tokens[i]);
    }
  }

 private:
  std::string prefix_;
  bool cleanup_;
};

class BpeDecoder : public Decoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
    }
  }

 private:
  std::string suffix_;
};

class MetaspaceDecoder : public Decoder {
 public:
  MetaspaceDecoder(char32_t replacement, bool has_prefix) : has_prefix_(has_prefix) {
    append_char(replacement_, replacement);
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], replacement_, i == 0 && has_prefix_ ? "" : " ");
    }
  }

 private:
  std::string replacement_;
  bool has_prefix_;
};

/// Tokens such as <0x61> that follow each other are bytes of text.
class ByteFallbackDecoder : public Decoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::vector<std::string> out;
    std::string bytes;
    auto flush = [&] {
      if (bytes.empty()) return;
      if (is_utf8(bytes)) {
        out.push_back(bytes);
      } else {
        out.insert(out.end(), bytes.size(), "\xEF\xBF\xBD");
      }
      bytes.clear();
    };
    for (std::string& token : tokens) {
      const int byte = byte_of(token);
      if (byte >= 0) {
        bytes += static_cast<char>(byte);
        continue;
      }
      flush();
      out.push_back(std::move(token));
    }
    flush();
    tokens = std::move(out);
  }
  OpenEnd open_end(std::span<const std::string_view> tokens) const override {
    std::string bytes;
    for (std::size_t i = tokens.size(); i-- > 0 && bytes.size() < 3;) {
      const int byte = byte_of(tokens[i]);
      if (byte < 0) break;
      bytes.insert(0, 1, static_cast<char>(byte));
    }
    return {open_bytes(bytes), false};
  }

 private:
  static int digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
  }
  static int byte_of(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return -1;
    const int high = digit(token[3]), low = digit(token[4]);
    // The package reads the two as Rust reads numbers, with a sign.
    if (token[3] == '+') return low;
    return high < 0 || low < 0 ? -1 : high * 16 + low;
  }
};

class FuseDecoder : public Decoder {
 public:
  void apply(std::vector<std::string>& tokens) const override {
    std::string all;
    for (const std::string& token : tokens) all += token;
    tokens.assign(1, std::move(all));
  }
};

class StripDecoder : public Decoder {
 public:
  StripDecoder(char32_t content, std::size_t start, std::size_t stop) : start_(start), stop_(stop) {
    append_char(content_, content);
  }
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      std::size_t front = 0;
      for (std::size_t i = 0; i < start_ && token.compare(front, content_.size(), content_) == 0;
           ++i) {
        front += content_.size();
      }
      token.erase(0, front);
      for (std::size_t i = 0; i < stop_ && token.ends_with(content_); ++i) {
        token.resize(token.size() - content_.size());
      }
    }
  }

 private:
  std::string content_;
  std::size_t start_, stop_;
};

class ReplaceDecoder : public Decoder {
 public:
  ReplaceDecoder(Regex pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (std::string& token : tokens) {
      std::string out;
      const auto size = static_cast<std::uint32_t>(token.size());
      std::uint32_t done = 0;
      MatchIterator matches(pattern_, token, {0, size});
      while (const std::optional<Range> match = matches.next()) {
        out.append(token, done, match->begin - done);
        out += content_;
        done = match->end;
      }
      out.append(token, done);
      token = std::move(out);
    }
  }

 private:
  Regex pattern_;
  std::string content_;
};

class CtcDecoder : public Decoder {
 public:
  CtcDecoder(std::string pad, std::string word_delimiter, bool cleanup)
      : pad_(std::move(pad)), word_delimiter_(std::move(word_delimiter)), cleanup_(cleanup) {}
  void apply(std::vector<std::string>& tokens) const override {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      replace_all(token, pad_, "");
      if (cleanup_) {
        clean_up(token);
        replace_all(token, word_delimiter_, " ");
      }
    }
    std::erase(tokens, "");
  }

 private:
  std::string pad_, word_delimiter_;
  bool cleanup_;
};

class DecoderSequence : public Decoder {
 public:
  explicit DecoderSequence(std::vector<DecoderPtr> parts) : parts_(std::move(parts)) {}
  void apply(std::vector<std::string>& tokens) const override {
    for (const DecoderPtr& part : parts_) part->apply(tokens);
  }
  OpenEnd open_end(std::span<const std::string_view> tokens) const override {
    for (const DecoderPtr& part : parts_) {
      const OpenEnd end = part->open_end(tokens);
      if (end.tokens > 0 || end.replacement) return end;
    }
    return {};
  }

 private:
  std::vector<DecoderPtr> parts_;
};

}  // namespace

DecoderPtr make_byte_level_decoder() { return std::make_unique<ByteLevelDecoder>(); }
DecoderPtr make_wordpiece_decoder(std::string prefix, bool cleanup) {
  return std::make_unique<WordPieceDecoder>(std::move(prefix), cleanup);
}
DecoderPtr make_bpe_decoder(std::string suffix) {
  return std::make_unique<BpeDecoder>(std::move(suffix));
}
DecoderPtr make_metaspace_decoder(char32_t replacement, bool has_prefix) {
  return std::make_unique<MetaspaceDecoder>(replacement, has_prefix);
}
DecoderPtr make_byte_fallback_decoder() { return std::make_unique<ByteFallbackDecoder>(); }
DecoderPtr make_fuse_decoder() { return std::make_unique<FuseDecoder>(); }
DecoderPtr make_strip_decoder(char32_t content, std::size_t start, std::size_t stop) {
  return std::make_unique<StripDecoder>(content, start, stop);
}
DecoderPtr make_replace_decoder(Regex pattern, std::string content) {
  return std::make_unique<ReplaceDecoder>(std::move(pattern), std::move(content));
}
DecoderPtr make_ctc_decoder(std::string pad, std::string word_delimiter, bool cleanup) {
  return std::make_unique<CtcDecoder>(std::move(pad), std::move(word_delimiter), cleanup);
}
DecoderPtr make_decoder_sequence(std::vector<DecoderPtr> parts) {
  return std::make_unique<DecoderSequence>(std::move(parts));
}

}  // namespace tlaloc::text
