// Ops that standalone code has no form for, each with its reason and what to do instead.
#include "tlaloc/cxx/rules.h"

namespace tlaloc::cxx {
namespace {

namespace rows = ops::rows;
constexpr Rule refused(const ir::OpDef& op, const char* reason, const char* hint) {
  return {.op = &op, .refusal = reason, .hint = hint};
}
constexpr const char* kOneDevice = "it talks to other devices";
constexpr const char* kNoMesh = "print the part of the function between the collectives";
constexpr const char* kQuantized = "its weights are quantized blocks";
constexpr const char* kDequantized = "pass the dequantized weights as an argument";
constexpr Rule kRules[] = {
    refused(rows::DebugPrint, "printing is no part of what a function computes",
            "take the debug_print out of the function"),
    refused(rows::CustomCall, "its code is known by name only", "call it outside of the function"),
    refused(rows::AllReduce, kOneDevice, kNoMesh),
    refused(rows::AllGather, kOneDevice, kNoMesh),
    refused(rows::ReduceScatter, kOneDevice, kNoMesh),
    refused(rows::Dequantize, kQuantized, kDequantized),
    refused(rows::QuantMatmul, kQuantized, kDequantized),
    refused(rows::QuantGather, kQuantized, kDequantized),
};

}  // namespace

std::span<const Rule> refused_rules() { return kRules; }

}  // namespace tlaloc::cxx
