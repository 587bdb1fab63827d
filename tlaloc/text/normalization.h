// The four normalization forms of Unicode, with the places of characters.
#pragma once

#include "tlaloc/text/aligned_text.h"

namespace tlaloc::text {

enum class Form { kNfc, kNfd, kNfkc, kNfkd };

/// Rewrites `text` in a normalization form, as the package tokenizers does: by the tables of an
/// older Unicode (kNotNormalized), which differ only in characters that came later.
void normalize(AlignedText& text, Form form);

}  // namespace tlaloc::text
