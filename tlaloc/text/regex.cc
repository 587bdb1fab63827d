#include "tlaloc/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include "tlaloc/base/error.h"

namespace tlaloc::text {
namespace {

// A pattern that backtracks over a long text takes about as many steps as characters, for each of
// its alternatives; what takes a hundred million is no longer of use.
constexpr std::uint32_t kMatchLimit = 100'000'000;
constexpr std::size_t kLeastStack = 64 << 10, kMostStack = 64 << 20;

template <class T, void (*kFree)(T*)>
struct Freed {
  void operator()(T* p) const { kFree(p); }
};

/// What matching needs beside the code: one for each thread.
struct Scratch {
  std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data, pcre2_match_data_free>> data{
      pcre2_match_data_create(1, nullptr)};
  std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context, pcre2_match_context_free>>
      context{pcre2_match_context_create(nullptr)};
  std::unique_ptr<pcre2_jit_stack, Freed<pcre2_jit_stack, pcre2_jit_stack_free>> stack{
      pcre2_jit_stack_create(kLeastStack, kMostStack, nullptr)};
  Scratch() {
    if (!data || !context || !stack) throw std::bad_alloc();
    pcre2_set_match_limit(context.get(), kMatchLimit);
    pcre2_jit_stack_assign(context.get(), nullptr, stack.get());
  }
};

std::string message_of(int error) {
  PCRE2_UCHAR8 text[256];
  pcre2_get_error_message(error, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

}  // namespace

struct Regex::Code {
  std::unique_ptr<pcre2_code, Freed<pcre2_code, pcre2_code_free>> code;
  std::string pattern;
};

Regex::Regex(std::string_view pattern, const std::string& place) {
  const std::string translated = to_pcre(pattern, place);
  auto code = std::make_shared<Code>();
  code->pattern = pattern;
  int error = 0;
  std::size_t offset = 0;
  // Oniguruma's ^ and $ are those of lines; its classes are Unicode's.
  code->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR8>(translated.data()),
                                 translated.size(), PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error,
                                 &offset, nullptr));
  if (!code->code) {
    throw UserError(
        {"TL-TOKENIZER-002",
         "tokenizer",
         fmt::format("{}: '{}' is no regular expression: {}", place, pattern, message_of(error)),
         "correct the expression",
         {}});
  }
  // Where there is no JIT, PCRE2 interprets.
  pcre2_jit_compile(code->code.get(), PCRE2_JIT_COMPLETE);
  code_ = std::move(code);
}

std::optional<Range> Regex::find(std::string_view text, Range within, std::uint32_t from) const {
  thread_local const Scratch scratch;
  const auto subject = reinterpret_cast<PCRE2_SPTR8>(text.data() + within.begin);
  const int found =
      pcre2_match(code_->code.get(), subject, within.end - within.begin, from - within.begin,
                  PCRE2_NO_UTF_CHECK, scratch.data.get(), scratch.context.get());
  if (found == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (found < 0) {
    throw UserError({"TL-TOKENIZER-004",
                     "tokenizer",
                     fmt::format("matching '{}' from byte {} of the text on took too long: {}",
                                 code_->pattern, from, message_of(found)),
                     "split the text, or use a pattern that backtracks less",
                     {}});
  }
  const std::size_t* ends = pcre2_get_ovector_pointer(scratch.data.get());
  return Range{static_cast<std::uint32_t>(within.begin + ends[0]),
               static_cast<std::uint32_t>(within.begin + ends[1])};
}

std::optional<Range> MatchIterator::next() {
  while (!done_) {
    const std::optional<Range> match = regex_.find(text_, within_, from_);
    if (!match) break;
    const bool empty = match->begin == match->end, again = empty && matched_ && match->end == from_;
    if (!again) {
      from_ = match->end;
      matched_ = true;
      return match;
    }
    if (from_ == within_.end) break;
    from_ += static_cast<std::uint32_t>(length_of(text_[from_]));
    matched_ = false;
  }
  done_ = true;
  return std::nullopt;
}

}  // namespace tlaloc::text
