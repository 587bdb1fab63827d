// Whether another format says the same of a model, and what it does not.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "tlaloc/llm/convert_parts.h"

namespace tlaloc::llm {
namespace {

/// What a decoder computes in f32: without what formats lay out in their own way, which
/// ConvertedTensors takes care of.
DecoderSpec computed(DecoderSpec s) {
  auto round = [](double& x) { x = static_cast<float>(x); };
  auto norm = [&](NormSpec& n) {
    n.around_zero = false;
    round(n.epsilon);
  };
  norm(s.norm);
  round(s.embedding_factor);
  round(s.logit_factor);
  round(s.logit_cap);
  if (s.embedding_norm) round(*s.embedding_norm);
  for (RopeSpec& r : s.ropes) round(r.factor);
  for (LayerSpec& l : s.layers) {
    for (auto* n : {&l.attention_norm, &l.attention_output_norm, &l.mlp_norm, &l.mlp_output_norm}) {
      if (*n) norm(**n);
    }
    AttentionSpec& a = l.attention;
    norm(a.head_norm_spec);
    a.interleaved = 0;
    if (a.window >= s.context) a.window = 0;  // which sees all
    for (double* x : {&a.scale, &a.soft_cap, &a.query_factor, &l.residual_factor}) round(*x);
  }
  return s;
}

struct Aspect {
  const char* name;
  std::function<bool(const DecoderSpec&, const DecoderSpec&)> same;
};
template <class Member>
Aspect whole(const char* name, Member member) {
  return {name, [=](const DecoderSpec& a, const DecoderSpec& b) { return a.*member == b.*member; }};
}
template <class Of>
Aspect each_layer(const char* name, Of of) {
  return {name, [=](const DecoderSpec& a, const DecoderSpec& b) {
            return std::ranges::equal(
                a.layers, b.layers,
                [&](const LayerSpec& x, const LayerSpec& y) { return of(x) == of(y); });
          }};
}
template <class Member>
Aspect attention(const char* name, Member member) {
  return each_layer(name, [=](const LayerSpec& l) { return l.attention.*member; });
}

/// Which frequencies a layer turns by, whatever the number of its embedding.
bool same_positions(const DecoderSpec& a, const DecoderSpec& b) {
  auto rope = [](const DecoderSpec& s, const LayerSpec& l) {
    return l.attention.rope ? &s.ropes[static_cast<std::size_t>(*l.attention.rope)] : nullptr;
  };
  return std::ranges::equal(a.layers, b.layers, [&](const LayerSpec& x, const LayerSpec& y) {
    const RopeSpec *p = rope(a, x), *q = rope(b, y);
    return p == nullptr || q == nullptr ? p == q : *p == *q;
  });
}

std::vector<Aspect> aspects() {
  return {
      whole("the vocabulary", &DecoderSpec::vocabulary),
      whole("the width", &DecoderSpec::width),
      whole("the context", &DecoderSpec::context),
      {"the number of layers",
       [](const DecoderSpec& a, const DecoderSpec& b) {
         return a.layers.size() == b.layers.size();
       }},
      attention("the heads", &AttentionSpec::heads),
      attention("the heads of keys", &AttentionSpec::kv_heads),
      attention("the width of heads", &AttentionSpec::width),
      attention("the windows of layers", &AttentionSpec::window),
      attention("the scale of scores", &AttentionSpec::scale),
      attention("the cap of scores", &AttentionSpec::soft_cap),
      {"the positions, their frequencies or the layers that know them", same_positions},
      attention("the norms of heads", &AttentionSpec::head_norm),
      each_layer("the width of the MLP", [](const LayerSpec& l) { return l.mlp.width; }),
      each_layer("the activation", [](const LayerSpec& l) { return l.mlp.activation; }),
      each_layer("the factor of residuals", [](const LayerSpec& l) { return l.residual_factor; }),
      whole("the factor of embeddings", &DecoderSpec::embedding_factor),
      whole("the factor of logits", &DecoderSpec::logit_factor),
      whole("the cap of logits", &DecoderSpec::logit_cap),
  };
}

}  // namespace

void refuse_to_convert(const std::string& message, const std::string& hint) {
  throw UserError({"TL-CONVERT-001", "convert", message, hint, {}});
}

void check_same(const DecoderSpec& from, const DecoderSpec& to, const std::string& format) {
  const DecoderSpec a = computed(from), b = computed(to);
  for (const Aspect& aspect : aspects()) {
    if (aspect.same(a, b)) continue;
    refuse_to_convert(
        fmt::format("{} of this {} model can't be said in {}", aspect.name, from.family, format),
        "run the model as it is");
  }
  // What else there is: families differ in it as a whole.
  DecoderSpec rest = b;
  rest.family = a.family;
  rest.ropes = a.ropes;
  for (std::size_t i = 0; i < rest.layers.size(); ++i) {
    rest.layers[i].attention.rope = a.layers[i].attention.rope;
  }
  if (rest == a) return;
  refuse_to_convert(
      fmt::format("the norms or gates of this {} model can't be said in {}", from.family, format),
      "run the model as it is");
}

}  // namespace tlaloc::llm
