// SentencePiece's compiled rules of normalization.
#pragma once

#include <string>
#include <string_view>

#include "tlaloc/text/normalizers.h"

namespace tlaloc::text {

/// Rules as `precompiled_charsmap` has them, base64 of the size of a trie in bytes, the trie as a
/// double array, and the texts that its values point to, each of which a zero ends. They apply to
/// graphemes of up to five bytes, and else to characters, as in the package tokenizers: where a
/// part of a grapheme has a rule, its text takes the place of the whole. UserError TL-TOKENIZER-001
/// for what is no such table; the same from apply() where a rule points outside of it.
NormalizerPtr make_precompiled(std::string_view base64, const std::string& place);

}  // namespace tlaloc::text
