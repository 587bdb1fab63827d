#include "tlaloc/text/tokenizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include "tlaloc/base/error.h"
#include "tlaloc/text/unicode_class.h"
#include "tlaloc/text/utf8.h"

namespace tlaloc::text {
namespace {

constexpr std::size_t kLongestText = 0xFFFFFF00u;
constexpr std::size_t kMostKept = std::size_t{16} << 20;  // bytes of one state
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
// Of a stream: tokens that bytes of a character may lie in before its last one, and tokens that are
// decoded again for each.
constexpr std::size_t kMostOpen = 3, kLongestWindow = 16;

/// What a thread needs to encode a text; kept from text to text.
struct State {
  std::unique_ptr<ModelState> model;
  TokenSink sink;
  std::vector<TokenFinder::Found> parts, inner;
  std::vector<Range> ranges, next;
  std::vector<Encoding::Spaces> spaces;  // of added tokens, with where they stand in the sink
  std::vector<std::size_t> added_at;

  /// Of the room that grows with texts.
  std::size_t bytes() const {
    return model->bytes() + sink.bytes() + bytes_of(parts) + bytes_of(inner) + bytes_of(ranges) +
           bytes_of(next) + bytes_of(spaces) + bytes_of(added_at);
  }
};

/// Whitespace characters at both ends, the visible form of a byte-level space among them.
Encoding::Spaces spaces_of(std::string_view token) {
  std::vector<bool> blank;
  const CharClasses& classes = CharClasses::get();
  const char32_t space = byte_to_char(' ');
  for (const char *p = token.data(), *end = p + token.size(); p != end;) {
    const char32_t c = next_char(p);
    blank.push_back(c == space || (classes[c] & kSpace));
  }
  const auto first = std::find(blank.begin(), blank.end(), false);
  const auto last = std::find(blank.rbegin(), blank.rend(), false);
  return {static_cast<std::uint32_t>(first - blank.begin()),
          static_cast<std::uint32_t>(last - blank.rbegin())};
}

void trim_offsets(Encoding& e, bool add_prefix_space) {
  for (Encoding& o : e.overflowing) trim_offsets(o, add_prefix_space);
  for (std::size_t i = 0; i < e.offsets.size(); ++i) {
    Range& r = e.offsets[i];
    auto [leading, trailing] = e.spaces[i];
    if ((i == 0 || r.begin == 0) && add_prefix_space && leading == 1) leading = 0;
    if (leading > 0) r.begin = std::min(r.begin + leading, r.end);
    if (trailing > 0 && r.end >= trailing) r.end = std::max(r.end - trailing, r.begin);
  }
}

/// Byte offsets as offsets of characters.
void count_characters(std::string_view text, std::span<Range> offsets) {
  if (std::none_of(text.begin(), text.end(), [](char c) { return is_continuation(c); })) return;
  std::vector<std::uint32_t> before(text.size() + 1);
  std::uint32_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    before[i] = count;
    if (i + 1 == text.size() || !is_continuation(text[i + 1])) ++count;
  }
  before[text.size()] = count;
  for (Range& r : offsets) r = {before[r.begin], before[r.end]};
}

/// A text as it is, or a copy of it that is UTF-8.
class WellFormed {
 public:
  explicit WellFormed(std::string_view text) : text_(text) {
    if (text.size() > kLongestText) {
      throw UserError({"TL-TOKENIZER-003",
                       "tokenizer",
                       fmt::format("a text of {} bytes is longer than 4 GiB", text.size()),
                       "encode it in parts",
                       {}});
    }
    if (is_utf8(text)) return;
    copy_ = replace_ill_formed(text);
    text_ = copy_;
  }
  WellFormed(const WellFormed&) = delete;
  WellFormed& operator=(const WellFormed&) = delete;
  std::string_view operator*() const { return text_; }

 private:
  std::string copy_;
  std::string_view text_;
};

}  // namespace

struct Tokenizer::Parts {
  explicit Parts(Pipeline p) : pipeline(std::move(p)) {
    std::vector<const AddedToken*> raw, normalized;
    std::vector<std::string> raw_contents, normalized_contents;
    std::set<std::string_view> specials;
    for (const AddedToken& t : pipeline.added_tokens) {
      if (t.special) specials.insert(t.content);
    }
    for (const AddedToken& t : pipeline.added_tokens) {
      std::string content = t.content;
      if (t.normalized && pipeline.normalizer) {
        AlignedText text(t.content, {0, static_cast<std::uint32_t>(t.content.size())});
        pipeline.normalizer->apply(text);
        content = text.view();
      }
      added.emplace(t.id, Added{&t, content, specials.contains(content)});
      ids.emplace(t.content, t.id);
      (t.normalized ? normalized : raw).push_back(&t);
      (t.normalized ? normalized_contents : raw_contents).push_back(content);
      bound = std::max(bound, t.id + 1);
    }
    bound = std::max(bound, pipeline.model->vocabulary().bound());
    raw_tokens = std::make_unique<TokenFinder>(raw, raw_contents);
    normalized_tokens = std::make_unique<TokenFinder>(normalized, normalized_contents);
  }

  struct Added {
    const AddedToken* token;
    std::string decoded;  // what stands for it in decoding
    bool special;
  };

  /// A state that nobody uses.
  std::unique_ptr<State> take() const {
    {
      const std::lock_guard lock(mutex);
      if (!states.empty()) {
        std::unique_ptr<State> state = std::move(states.back());
        states.pop_back();
        return state;
      }
    }
    auto state = std::make_unique<State>();
    state->model = pipeline.model->make_state();
    return state;
  }
  void give_back(std::unique_ptr<State> state) const {
    if (state->bytes() > kMostKept) return;  // else a huge text's room would stay for good
    const std::lock_guard lock(mutex);
    states.push_back(std::move(state));
  }

  /// Fills the sink with the tokens of a well-formed text, and their places in it.
  void tokenize(std::string_view text, bool match_special, bool wants_ranges, State& s) const {
    s.sink.clear(wants_ranges);
    s.added_at.clear();
    s.spaces.clear();
    s.parts.clear();
    raw_tokens->find(text, !match_special, s.parts);
    for (const TokenFinder::Found& part : s.parts) {
      if (part.token != nullptr) {
        push_added(*part.token, part.range,
                   text.substr(part.range.begin, part.range.end - part.range.begin), s);
        continue;
      }
      AlignedText section(text, part.range);
      if (pipeline.normalizer) pipeline.normalizer->apply(section);
      if (normalized_tokens->empty()) {
        tokenize_section(std::move(section), s);
        continue;
      }
      s.inner.clear();
      normalized_tokens->find(section.view(), !match_special, s.inner);
      for (const TokenFinder::Found& inner : s.inner) {
        if (inner.token != nullptr) {
          push_added(*inner.token, section.original(inner.range), section.of(inner.range), s);
        } else {
          tokenize_section(section.slice(inner.range), s);
        }
      }
    }
  }

  /// Does `work` on a text; what it refuses says of which tokenizer and text.
  template <class Work>
  auto with_name(std::string_view which, Work work) const {
    try {
      return work();
    } catch (const UserError& e) {
      ErrorInfo info = e.info();
      if (!which.empty()) info.message = fmt::format("{}: {}", which, info.message);
      if (!pipeline.name.empty()) info.message = fmt::format("{}: {}", pipeline.name, info.message);
      throw UserError(std::move(info));
    }
  }

  Encoding encoding(std::string_view text, const EncodeOptions& options) const {
    std::unique_ptr<State> s = take();
    const bool wants_offsets = options.offsets != Offsets::kNone;
    tokenize(text, options.match_special_tokens, wants_offsets, *s);
    Encoding e;
    e.ids.assign(s->sink.ids().begin(), s->sink.ids().end());
    if (wants_offsets) {
      e.offsets.assign(s->sink.ranges().begin(), s->sink.ranges().end());
      if (options.offsets == Offsets::kCharacters) count_characters(text, e.offsets);
      if (pipeline.post_processor.trim_offsets) fill_spaces(*s, e);
    }
    give_back(std::move(s));
    e.type_ids.assign(e.size(), 0);
    e.attention_mask.assign(e.size(), 1);
    e.special_tokens_mask.assign(e.size(), 0);
    return e;
  }

  /// Truncates and puts together one or two texts.
  Encoding finish(Encoding first, Encoding* second, const EncodeOptions& options) const {
    const bool add_special_tokens = options.add_special_tokens;
    const PostProcessor& post = pipeline.post_processor;
    const std::vector<PostProcessor::Piece>& pieces = second ? post.pair : post.single;
    if (pipeline.truncation) {
      std::size_t added_count = 0;
      for (const auto& piece : pieces) added_count += add_special_tokens ? piece.ids.size() : 0;
      const std::size_t length = pipeline.truncation->max_length;
      if (added_count > length) {
        throw UserError(
            {"TL-TOKENIZER-006",
             "tokenizer",
             fmt::format("{} special tokens are more than the {} that truncation leaves",
                         added_count, length),
             "raise max_length",
             {}});
      }
      truncate(first, second, *pipeline.truncation, length - added_count);
    }
    if (post.trim_offsets) {
      trim_offsets(first, post.add_prefix_space);
      if (second) trim_offsets(*second, post.add_prefix_space);
    }
    Encoding result;
    bool is_first = true;
    for (const PostProcessor::Piece& piece : pieces) {
      Encoding part;
      if (piece.kind == PostProcessor::Piece::kSpecial) {
        if (!add_special_tokens) continue;
        part = special(piece, options.offsets != Offsets::kNone);
      } else {
        part = piece.kind == PostProcessor::Piece::kFirst ? first : *second;
        set_type(part, piece.type_id);
      }
      if (is_first) {
        result = std::move(part);
      } else {
        result.append(part);
      }
      is_first = false;
    }
    drop_spaces(result);
    return result;
  }

  /// `which` names the text among others.
  Encoding encode(std::string_view text, std::string_view which,
                  const EncodeOptions& options) const {
    return with_name(
        which, [&] { return finish(encoding(*WellFormed(text), options), nullptr, options); });
  }
  Encoding encode_pair(std::string_view first, std::string_view second,
                       const EncodeOptions& options) const {
    Encoding one =
        with_name("the first text", [&] { return encoding(*WellFormed(first), options); });
    Encoding two =
        with_name("the second text", [&] { return encoding(*WellFormed(second), options); });
    return with_name("", [&] { return finish(std::move(one), &two, options); });
  }

  std::string_view token_text(TokenId id) const {
    const auto it = added.find(id);
    return it != added.end() ? std::string_view(it->second.token->content)
                             : pipeline.model->vocabulary().token(id);
  }

  Pipeline pipeline;
  std::unordered_map<TokenId, Added> added;
  std::unordered_map<std::string_view, TokenId> ids;
  std::unique_ptr<TokenFinder> raw_tokens, normalized_tokens;
  TokenId bound = 0;
  mutable std::mutex mutex;
  mutable std::vector<std::unique_ptr<State>> states;  // that nobody uses

 private:
  void push_added(const AddedToken& token, Range place, std::string_view value, State& s) const {
    if (s.sink.wants_ranges() && pipeline.post_processor.trim_offsets) {
      s.added_at.push_back(s.sink.size());
      s.spaces.push_back(spaces_of(value));
    }
    s.sink.reserve(1);
    s.sink.push(token.id, place);
  }

  void tokenize_section(AlignedText text, State& s) const {
    const auto size = static_cast<std::uint32_t>(text.view().size());
    if (size == 0) return;
    Pieces pieces{std::move(text), std::move(s.ranges), std::move(s.next)};
    pieces.ranges.assign(1, {0, size});
    for (const PreTokenizerPtr& step : pipeline.pre_tokenizers) step->apply(pieces);
    const std::size_t before = s.sink.size();
    const bool raw = pipeline.byte_level && pipeline.model->takes_raw(pieces.text.view());
    if (pipeline.byte_level && !raw) pipeline.byte_level->apply(pieces);
    pipeline.model->tokenize(pieces.text.view(), pieces.ranges, raw, *s.model, s.sink);
    if (s.sink.wants_ranges()) {
      for (Range& r : s.sink.ranges().subspan(before)) r = pieces.text.original(r);
    }
    s.ranges = std::move(pieces.ranges);
    s.next = std::move(pieces.next);
  }

  void fill_spaces(const State& s, Encoding& e) const {
    e.spaces.resize(e.size());
    for (std::size_t i = 0, k = 0; i < e.size(); ++i) {
      const bool is_added = k < s.added_at.size() && s.added_at[k] == i;
      e.spaces[i] = is_added ? s.spaces[k++] : spaces_of(token_text(e.ids[i]));
    }
  }

  static Encoding special(const PostProcessor::Piece& piece, bool with_offsets) {
    Encoding e;
    const std::size_t n = piece.ids.size();
    e.ids = piece.ids;
    if (with_offsets) e.offsets.assign(n, {});
    e.type_ids.assign(n, piece.type_id);
    e.attention_mask.assign(n, 1);
    e.special_tokens_mask.assign(n, 1);
    return e;
  }
  static void set_type(Encoding& e, std::int32_t type) {
    e.type_ids.assign(e.size(), type);
    for (Encoding& o : e.overflowing) set_type(o, type);
  }
  static void drop_spaces(Encoding& e) {
    e.spaces.clear();
    for (Encoding& o : e.overflowing) drop_spaces(o);
  }
};

Tokenizer::Tokenizer(Pipeline pipeline)
    : parts_(std::make_shared<const Parts>(std::move(pipeline))) {}

Encoding Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  Encoding e = parts_->encode(text, "", options);
  if (!parts_->pipeline.padding) return e;
  std::vector<Encoding> one{std::move(e)};
  pad(one, *parts_->pipeline.padding, options.offsets != Offsets::kNone);
  return std::move(one[0]);
}

Encoding Tokenizer::encode(std::string_view text, std::string_view second,
                           const EncodeOptions& options) const {
  std::vector<Encoding> one{parts_->encode_pair(text, second, options)};
  if (parts_->pipeline.padding)
    pad(one, *parts_->pipeline.padding, options.offsets != Offsets::kNone);
  return std::move(one[0]);
}

std::vector<Encoding> Tokenizer::encode_batch(std::span<const std::string_view> texts,
                                              const EncodeOptions& options,
                                              unsigned threads) const {
  std::vector<Encoding> result(texts.size());
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  std::mutex mutex;
  auto work = [&] {
    try {
      for (std::size_t i; (i = next++) < texts.size();) {
        result[i] = parts_->encode(texts[i], fmt::format("text {}", i), options);
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
      next = texts.size();
    }
  };
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min<std::size_t>(threads, texts.size()); ++i) {
      others.emplace_back(work);
    }
    work();
  }
  if (error) std::rethrow_exception(error);
  if (parts_->pipeline.padding)
    pad(result, *parts_->pipeline.padding, options.offsets != Offsets::kNone);
  return result;
}

void Tokenizer::encode_ids(std::string_view text, std::vector<TokenId>& ids,
                           bool match_special_tokens) const {
  const WellFormed well_formed(text);
  std::unique_ptr<State> s = parts_->take();
  parts_->with_name("", [&] { parts_->tokenize(*well_formed, match_special_tokens, false, *s); });
  ids.insert(ids.end(), s->sink.ids().begin(), s->sink.ids().end());
  parts_->give_back(std::move(s));
}

std::string Tokenizer::decode(std::span<const TokenId> ids, bool skip_special_tokens) const {
  std::vector<std::string> tokens;
  const Vocabulary& vocabulary = parts_->pipeline.model->vocabulary();
  for (TokenId id : ids) {
    const auto it = parts_->added.find(id);
    if (it != parts_->added.end()) {
      if (!skip_special_tokens || !it->second.special) tokens.push_back(it->second.decoded);
    } else if (vocabulary.contains(id)) {
      tokens.emplace_back(vocabulary.token(id));
    }
  }
  const DecoderPtr& decoder = parts_->pipeline.decoder;
  if (decoder && !tokens.empty()) decoder->apply(tokens);
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0 && !decoder) text += ' ';
    text += tokens[i];
  }
  return text;
}

Decoder::OpenEnd Tokenizer::open_end(std::span<const TokenId> ids) const {
  std::vector<std::string_view> tokens;
  for (TokenId id : ids) {
    const auto it = parts_->added.find(id);
    tokens.push_back(it != parts_->added.end() ? std::string_view(it->second.decoded)
                                               : parts_->pipeline.model->vocabulary().token(id));
  }
  const DecoderPtr& decoder = parts_->pipeline.decoder;
  return decoder ? decoder->open_end(tokens) : Decoder::OpenEnd{};
}

TokenId Tokenizer::bound() const { return parts_->bound; }

TokenId Tokenizer::find(std::string_view token) const {
  const auto it = parts_->ids.find(token);
  return it != parts_->ids.end() ? it->second : parts_->pipeline.model->vocabulary().find(token);
}

bool Tokenizer::is_token(TokenId id) const {
  return parts_->added.contains(id) || parts_->pipeline.model->vocabulary().contains(id);
}

std::string_view Tokenizer::token(TokenId id) const { return parts_->token_text(id); }

bool Tokenizer::is_special(TokenId id) const {
  const auto it = parts_->added.find(id);
  return it != parts_->added.end() && it->second.special;
}

std::size_t Tokenizer::kept_bytes() const {
  const std::lock_guard lock(parts_->mutex);
  std::size_t bytes = 0;
  for (const auto& state : parts_->states) bytes += state->bytes();
  return bytes;
}

std::string DecodeStream::push(TokenId id) {
  // What decodes to nothing whatever stands around it would only fill the window.
  if (!tokenizer_.is_token(id) || (skip_special_tokens_ && tokenizer_.is_special(id))) return {};
  ids_.push_back(id);
  const Decoder::OpenEnd open =
      tokenizer_.open_end(std::span(ids_).last(std::min(ids_.size(), kMostOpen)));
  const std::size_t tokens = std::min(open.tokens, ids_.size() - context_);
  const std::string rest = behind_prefix(std::span(ids_).first(ids_.size() - tokens));
  const bool is_open = open.replacement && rest.ends_with(kReplacement);
  const std::size_t settled = rest.size() - (is_open ? kReplacement.size() : 0);
  std::string added = settled > given_ ? rest.substr(given_, settled - given_) : "";
  given_ = std::max(given_, settled);
  if (tokens == 0 && !is_open && !rest.empty()) {
    // The tokens of the last step stay: decoders treat the first token of a text differently.
    move_window(ids_.size());
    given_ = 0;
  } else if (ids_.size() - context_ >= kLongestWindow) {
    shorten_window();
  }
  return added;
}

std::string DecodeStream::finish() {
  const std::string rest = behind_prefix(ids_);
  ids_.clear();
  prefix_.clear();
  context_ = 0;
  return rest.substr(std::min(std::exchange(given_, 0), rest.size()));
}

std::string DecodeStream::decode(std::span<const TokenId> ids) const {
  return tokenizer_.decode(ids, skip_special_tokens_);
}

std::string DecodeStream::behind_prefix(std::span<const TokenId> ids) const {
  std::string text = decode(ids);
  if (text.starts_with(prefix_)) return text.substr(prefix_.size());
  return decode(ids.subspan(context_));
}

void DecodeStream::move_window(std::size_t end) {
  ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(context_));
  context_ = end - context_;
  prefix_ = decode(std::span(ids_).first(context_));
}

void DecodeStream::shorten_window() {
  const std::string rest = behind_prefix(ids_);
  const std::size_t last = ids_.size() - kMostOpen;
  if (rest.empty()) {
    // Tokens without text are no context for those that follow.
    std::vector<TokenId> shorter(ids_.begin(),
                                 ids_.begin() + static_cast<std::ptrdiff_t>(context_));
    shorter.insert(shorter.end(), ids_.begin() + static_cast<std::ptrdiff_t>(last), ids_.end());
    if (decode(shorter) == decode(ids_)) ids_ = std::move(shorter);
    return;
  }
  // Behind a place within a character the text is not the end of this one: then one a bit before.
  for (std::size_t end = last; end + kMostOpen > last; --end) {
    DecodeStream moved = *this;
    moved.move_window(end);
    const std::string still = moved.behind_prefix(moved.ids_);
    if (moved.prefix_.empty() || !rest.ends_with(still)) continue;
    moved.given_ -= std::min(moved.given_, rest.size() - still.size());
    *this = std::move(moved);
    return;
  }
}

}  // namespace tlaloc::text
