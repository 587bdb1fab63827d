"""Functions in the StableHLO project's test convention, without what they expect: check_modules.py adds that.

A case is a name, a text of operations that ends in a value called %r, and the type of %r. Constants are written
`%x = dense<...> : type`. Where StableHLO's reference interpreter lacks an operation, `expected` is the constant.
"""

import collections
import math

Case = collections.namedtuple("Case", "name text type expected tolerance")
FILES = {}


def case(file, name, text, type_, expected=None, tolerance=None):
    FILES.setdefault(file, []).append(Case(name, text.strip("\n"), type_, expected, tolerance))


def dense(values, type_):
    return f"dense<[{', '.join(repr(float(v)) for v in values)}]> : {type_}"


F = "tensor<5xf32>"
X = "%x = dense<[-2.5, -0.0, 0.5, 1.0, 0xFF800000]> : tensor<5xf32>\n"
POSITIVE = "%x = dense<[0.25, 0.5, 1.0, 2.0, 9.0]> : tensor<5xf32>\n"
EXACT = {"abs", "ceil", "floor", "negate", "sign", "round_nearest_afz", "round_nearest_even"}
for op in sorted(EXACT | {"cosine", "exponential", "exponential_minus_one", "logistic", "sine", "tanh", "tan"}):
    case("unary", op, f"{X}%r = stablehlo.{op} %x : {F}", F, tolerance=None if op in EXACT else 1e-6)
for op in ("cbrt", "log", "log_plus_one", "rsqrt", "sqrt"):
    case("unary", op, f"{POSITIVE}%r = stablehlo.{op} %x : {F}", F, tolerance=1e-6)
case("unary", "is_finite", f"{X}%r = stablehlo.is_finite %x : ({F}) -> tensor<5xi1>", "tensor<5xi1>")
case("unary", "not", """
%x = dense<[0, 5, -1]> : tensor<3xi8>
%r = stablehlo.not %x : tensor<3xi8>
""", "tensor<3xi8>")
case("unary", "not_i1", """
%x = dense<[true, false]> : tensor<2xi1>
%r = stablehlo.not %x : tensor<2xi1>
""", "tensor<2xi1>")
case("unary", "popcnt", """
%x = dense<[0, 5, 255]> : tensor<3xui8>
%r = stablehlo.popcnt %x : tensor<3xui8>
""", "tensor<3xui8>")
case("unary", "count_leading_zeros", """
%x = dense<[0, 5, -1]> : tensor<3xi32>
%r = stablehlo.count_leading_zeros %x : tensor<3xi32>
""", "tensor<3xi32>")
for source, values, target in [
    ("f32", "[-2.5, 3.7, 0.0]", "i32"),
    ("i32", "[-1, 300, 0]", "ui8"),
    ("i1", "[true, false, true]", "f32"),
    ("f32", "[1.00390625, -2.5, 65519.0]", "bf16"),
    ("f64", "[1.1, -0.0, 1.0e300]", "f32"),
    ("ui64", "[18446744073709551615, 0, 7]", "f32"),
    ("f16", "[0.1, 65504.0, -0.0]", "f64")
]:
    a, b = f"tensor<3x{source}>", f"tensor<3x{target}>"
    case("unary", f"convert_{source}_{target}", f"%x = dense<{values}> : {a}\n%r = stablehlo.convert %x : ({a}) -> {b}", b)
case("unary", "bitcast_convert", f"{X}%r = stablehlo.bitcast_convert %x : ({F}) -> tensor<5xi32>", "tensor<5xi32>")
case("unary", "bitcast_convert_narrower", """
%x = dense<[1, 258]> : tensor<2xi16>
%r = stablehlo.bitcast_convert %x : (tensor<2xi16>) -> tensor<2x2xui8>
""", "tensor<2x2xui8>")
case("unary", "reduce_precision", """
%x = dense<[1.1, 3.0e38, 1.0e-40]> : tensor<3xf32>
%r = stablehlo.reduce_precision %x, format = e5m10 : tensor<3xf32>
""", "tensor<3xf32>")
CHLO = {
    "acos": math.acos, "acosh": math.acosh, "asin": math.asin, "asinh": math.asinh, "atan": math.atan, "atanh": math.atanh,
    "cosh": math.cosh, "erf": math.erf, "erfc": math.erfc, "lgamma": math.lgamma, "sinh": math.sinh, "square": lambda x: x * x,
    "tan": math.tan}
for op, f in CHLO.items():
    values = {"acosh": [1.0, 1.5, 4.0], "lgamma": [0.5, 2.5, 7.0]}.get(op, [-0.5, 0.25, 0.75])
    T = "tensor<3xf64>"
    case("chlo", op, f"%x = {dense(values, T)}\n%r = chlo.{op} %x : {T} -> {T}", T, dense([f(v) for v in values], T), 1e-12)
# By reflection and duplication from psi(1) and psi(1/2); and where erf is a half.
case("chlo", "digamma", """
%x = dense<[1.0, 0.5, 2.0]> : tensor<3xf64>
%r = chlo.digamma %x : tensor<3xf64> -> tensor<3xf64>
""", "tensor<3xf64>",
     "dense<[-0.5772156649015329, -1.9635100260214235, 0.42278433509846713]> : tensor<3xf64>", tolerance=1e-12)
case("chlo", "erf_inv", """
%x = dense<[0.5, -0.5, 0.0]> : tensor<3xf64>
%r = chlo.erf_inv %x : tensor<3xf64> -> tensor<3xf64>
""", "tensor<3xf64>", "dense<[0.4769362762044699, -0.4769362762044699, 0.0]> : tensor<3xf64>", tolerance=1e-12)
for op, expected in [("is_inf", "[true, true, false, false]"), ("is_pos_inf", "[true, false, false, false]"),
                     ("is_neg_inf", "[false, true, false, false]")]:
    case("chlo", op, "%x = dense<[0x7F800000, 0xFF800000, 0x7FC00000, 1.0]> : tensor<4xf32>\n"
         f"%r = chlo.{op} %x : tensor<4xf32> -> tensor<4xi1>", "tensor<4xi1>", f"dense<{expected}> : tensor<4xi1>")
case("chlo", "next_after", """
%x = dense<[1.0, 0.0, 1.0]> : tensor<3xf32>
%y = dense<[2.0, -1.0, 1.0]> : tensor<3xf32>
%r = chlo.next_after %x, %y : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
""", "tensor<3xf32>", "dense<[0x3F800001, 0x80000001, 1.0]> : tensor<3xf32>")
case("chlo", "constant", """
%r = chlo.constant dense<[1, 2]> : tensor<2xi32>
""", "tensor<2xi32>", "dense<[1, 2]> : tensor<2xi32>")
case("chlo", "top_k", """
%x = dense<[3.0, 9.0, -1.0, 9.0]> : tensor<4xf32>
%r, %i = chlo.top_k(%x, k = 3) : tensor<4xf32> -> (tensor<3xf32>, tensor<3xi32>)
""", "tensor<3xf32>", "dense<[9.0, 9.0, 3.0]> : tensor<3xf32>")

XY = """%x = dense<[-7.5, 0.0, 2.0, 0x7FC00000]> : tensor<4xf32>
%y = dense<[2.0, -0.0, 0.5, 1.0]> : tensor<4xf32>
"""
for op in ("add", "atan2", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract"):
    case("binary", f"{op}_f32", f"{XY}%r = stablehlo.{op} %x, %y : tensor<4xf32>", "tensor<4xf32>",
         tolerance=1e-6 if op in ("atan2", "power") else None)
IJ = """%x = dense<[-7, 2147483647, 6, 0]> : tensor<4xi32>
%y = dense<[2, 1, 3, 5]> : tensor<4xi32>
"""
for op in ("add", "divide", "maximum", "minimum", "multiply", "power", "remainder", "subtract", "and", "or", "xor",
           "shift_left", "shift_right_arithmetic", "shift_right_logical"):
    case("binary", f"{op}_i32", f"{IJ}%r = stablehlo.{op} %x, %y : tensor<4xi32>", "tensor<4xi32>")
PQ = """%x = dense<[false, false, true, true]> : tensor<4xi1>
%y = dense<[false, true, false, true]> : tensor<4xi1>
"""
for op in ("add", "multiply", "maximum", "and", "or", "xor"):
    case("binary", f"{op}_i1", f"{PQ}%r = stablehlo.{op} %x, %y : tensor<4xi1>", "tensor<4xi1>")
UV = """%x = dense<[1.0, 2.0, 0x7FC00000, -0.0]> : tensor<4xf32>
%y = dense<[2.0, 2.0, 1.0, 0.0]> : tensor<4xf32>
"""
for direction in ("EQ", "NE", "LT", "LE", "GT", "GE"):
    case("binary", f"compare_{direction}", f"{UV}%r = stablehlo.compare {direction}, %x, %y, FLOAT : "
         "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>", "tensor<4xi1>")
case("binary", "compare_unsigned", """
%x = dense<[200, 3]> : tensor<2xui8>
%y = dense<[100, 3]> : tensor<2xui8>
%r = stablehlo.compare GT, %x, %y, UNSIGNED : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
""", "tensor<2xi1>")
case("binary", "compare_total_order", """
%x = dense<[0x7FC00000, -0.0, 0xFFC00000]> : tensor<3xf32>
%y = dense<[0x7F800000, 0.0, 0xFF800000]> : tensor<3xf32>
%r = stablehlo.compare GT, %x, %y, TOTALORDER : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
""", "tensor<3xi1>", "dense<[true, false, false]> : tensor<3xi1>")
case("binary", "clamp", """
%l = dense<-1.0> : tensor<f32>
%x = dense<[-2.0, 0.5, 3.0]> : tensor<3xf32>
%h = dense<1.0> : tensor<f32>
%r = stablehlo.clamp %l, %x, %h : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
""", "tensor<3xf32>")
case("binary", "select", """
%p = dense<[true, false, true]> : tensor<3xi1>
%x = dense<[1, 2, 3]> : tensor<3xi32>
%y = dense<[4, 5, 6]> : tensor<3xi32>
%r = stablehlo.select %p, %x, %y : tensor<3xi1>, tensor<3xi32>
""", "tensor<3xi32>")
case("binary", "select_by_scalar", """
%p = dense<false> : tensor<i1>
%x = dense<[1, 2, 3]> : tensor<3xi32>
%y = dense<[4, 5, 6]> : tensor<3xi32>
%r = stablehlo.select %p, %x, %y : tensor<i1>, tensor<3xi32>
""", "tensor<3xi32>")

case("shape", "broadcast_in_dim", """
%x = dense<[1, 2]> : tensor<2xi32>
%r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<2xi32>) -> tensor<3x2xi32>
""", "tensor<3x2xi32>")
case("shape", "concatenate", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%r = stablehlo.concatenate %m, %m, dim = 1 : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x6xi32>
""", "tensor<2x6xi32>")
case("shape", "constant", """
%r = stablehlo.constant dense<"0x0100FFFF"> : tensor<2xi16>
""", "tensor<2xi16>")
case("shape", "iota", """
%r = stablehlo.iota dim = 1 : tensor<2x3xf32>
""", "tensor<2x3xf32>")
case("shape", "pad", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%p = dense<9> : tensor<i32>
%r = stablehlo.pad %m, %p, low = [1, -1], high = [0, 2], interior = [1, 0] : (tensor<2x3xi32>, tensor<i32>)
    -> tensor<4x4xi32>
""", "tensor<4x4xi32>")
case("shape", "reshape", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%r = stablehlo.reshape %m : (tensor<2x3xi32>) -> tensor<3x2xi32>
""", "tensor<3x2xi32>")
case("shape", "reverse", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%r = stablehlo.reverse %m, dims = [0, 1] : tensor<2x3xi32>
""", "tensor<2x3xi32>")
case("shape", "slice", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%r = stablehlo.slice %m [0:2, 0:3:2] : (tensor<2x3xi32>) -> tensor<2x2xi32>
""", "tensor<2x2xi32>")
case("shape", "transpose", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%r = stablehlo.transpose %m, dims = [1, 0] : (tensor<2x3xi32>) -> tensor<3x2xi32>
""", "tensor<3x2xi32>")
case("shape", "dynamic_slice", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%i = dense<7> : tensor<i32>
%j = dense<-1> : tensor<i32>
%r = stablehlo.dynamic_slice %m, %i, %j, sizes = [1, 2] : (tensor<2x3xi32>, tensor<i32>, tensor<i32>)
    -> tensor<1x2xi32>
""", "tensor<1x2xi32>")
case("shape", "dynamic_update_slice", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%u = dense<[[8, 9]]> : tensor<1x2xi32>
%i = dense<1> : tensor<i64>
%r = stablehlo.dynamic_update_slice %m, %u, %i, %i : (tensor<2x3xi32>, tensor<1x2xi32>, tensor<i64>,
    tensor<i64>) -> tensor<2x3xi32>
""", "tensor<2x3xi32>")
case("shape", "gather", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%i = dense<[[2, 0], [1, 5], [-1, 1]]> : tensor<3x2xi32>
%r = "stablehlo.gather"(%m, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
    start_index_map = [1, 0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<2x3xi32>,
    tensor<3x2xi32>) -> tensor<3xi32>
""", "tensor<3xi32>")
case("shape", "optimization_barrier", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%r = stablehlo.optimization_barrier %m : tensor<2x3xi32>
""", "tensor<2x3xi32>")
case("shape", "get_dimension_size", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%r = stablehlo.get_dimension_size %m, dim = 1 : (tensor<2x3xi32>) -> tensor<i32>
""", "tensor<i32>")
case("shape", "dynamic_iota", """
%s = dense<[2, 2]> : tensor<2xi32>
%r = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi32>) -> tensor<2x2xi32>
""", "tensor<2x2xi32>")
case("shape", "dynamic_reshape", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%s = dense<[3, 2]> : tensor<2xi32>
%r = stablehlo.dynamic_reshape %m, %s : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<3x2xi32>
""", "tensor<3x2xi32>")
case("shape", "dynamic_broadcast_in_dim", """
%x = dense<[1, 2]> : tensor<2xi32>
%s = dense<[3, 2]> : tensor<2xi32>
%r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xi32>
""", "tensor<3x2xi32>")
case("shape", "dynamic_pad", """
%x = dense<[1, 2]> : tensor<2xi32>
%p = dense<0> : tensor<i32>
%l = dense<[1]> : tensor<1xi32>
%r = stablehlo.dynamic_pad %x, %p, %l, %l, %l : (tensor<2xi32>, tensor<i32>, tensor<1xi32>, tensor<1xi32>,
    tensor<1xi32>) -> tensor<5xi32>
""", "tensor<5xi32>")
case("shape", "real_dynamic_slice", """
%x = dense<[1, 2, 3, 4]> : tensor<4xi32>
%l = dense<[1]> : tensor<1xi32>
%h = dense<[4]> : tensor<1xi32>
%t = dense<[2]> : tensor<1xi32>
%r = stablehlo.real_dynamic_slice %x, %l, %h, %t : (tensor<4xi32>, tensor<1xi32>, tensor<1xi32>,
    tensor<1xi32>) -> tensor<2xi32>
""", "tensor<2xi32>", "dense<[2, 4]> : tensor<2xi32>")
case("shape", "dynamic_gather", """
%m = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
%i = dense<[1, 0]> : tensor<2xi32>
%s = dense<[1, 3]> : tensor<2xi32>
%r = "stablehlo.dynamic_gather"(%m, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<2x3xi32>,
    tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xi32>
""", "tensor<2x3xi32>")

MF = "%m = dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>\n%z = dense<0.0> : tensor<f32>\n"
R1 = "(tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>"
case("reduce", "reduce_add", """
%m = dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
%z = dense<0.0> : tensor<f32>
%r = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>,
    tensor<f32>) -> tensor<2xf32>
""", "tensor<2xf32>")
case("reduce", "reduce_maximum", """
%m = dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
%z = dense<0.0> : tensor<f32>
%r = stablehlo.reduce(%m init: %z) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>,
    tensor<f32>) -> tensor<2xf32>
""", "tensor<2xf32>")
case("reduce", "reduce_minimum", """
%m = dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
%z = dense<0.0> : tensor<f32>
%r = stablehlo.reduce(%m init: %z) applies stablehlo.minimum across dimensions = [1] : (tensor<2x3xf32>,
    tensor<f32>) -> tensor<2xf32>
""", "tensor<2xf32>")
case("reduce", "reduce_multiply", """
%m = dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
%z = dense<0.0> : tensor<f32>
%r = stablehlo.reduce(%m init: %z) applies stablehlo.multiply across dimensions = [1] : (tensor<2x3xf32>,
    tensor<f32>) -> tensor<2xf32>
""", "tensor<2xf32>")
case("reduce", "reduce_and", """
%x = dense<[[true, false], [true, true]]> : tensor<2x2xi1>
%z = dense<true> : tensor<i1>
%r = stablehlo.reduce(%x init: %z) applies stablehlo.and across dimensions = [1] : (tensor<2x2xi1>,
    tensor<i1>) -> tensor<2xi1>
""", "tensor<2xi1>")
case("reduce", "reduce_or", """
%x = dense<[[true, false], [true, true]]> : tensor<2x2xi1>
%z = dense<true> : tensor<i1>
%r = stablehlo.reduce(%x init: %z) applies stablehlo.or across dimensions = [1] : (tensor<2x2xi1>,
    tensor<i1>) -> tensor<2xi1>
""", "tensor<2xi1>")
case("reduce", "reduce_own", """
%m = dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
%z = dense<0.0> : tensor<f32>
%r = stablehlo.reduce(%m init: %z) across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
 reducer(%a: tensor<f32>, %b: tensor<f32>) {
  %c = stablehlo.multiply %a, %b : tensor<f32>
  %d = stablehlo.add %a, %b : tensor<f32>
  %e = stablehlo.add %c, %d : tensor<f32>
  stablehlo.return %e : tensor<f32>
 }
""", "tensor<3xf32>")
case("reduce", "reduce_arg_max", """
%m = dense<[[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]]> : tensor<2x3xf32>
%z = dense<0.0> : tensor<f32>
%i = stablehlo.iota dim = 1 : tensor<2x3xi32>
%j = dense<-1> : tensor<i32>
%n = dense<0xFF800000> : tensor<f32>
%v, %r = stablehlo.reduce(%m init: %n), (%i init: %j) across dimensions = [1] : (tensor<2x3xf32>,
    tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
 reducer(%a: tensor<f32>, %b: tensor<f32>) (%p: tensor<i32>, %q: tensor<i32>) {
  %c = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %d = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>
  %e = stablehlo.select %c, %p, %q : tensor<i1>, tensor<i32>
  stablehlo.return %d, %e : tensor<f32>, tensor<i32>
 }
""", "tensor<2xi32>")
WINDOW = """<{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 1>,
  padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>}> ({
 ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %c = stablehlo.OP %a, %b : tensor<f32>
  stablehlo.return %c : tensor<f32>
 })"""
for op in ("add", "maximum"):
    case("reduce", f"reduce_window_{op}", MF + "%r = \"stablehlo.reduce_window\"(%m, %z) " + WINDOW.replace("OP", op) +
         " : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>", "tensor<2x3xf32>")
case("reduce", "select_and_scatter", """
%x = dense<[1.0, 5.0, 2.0, 7.0]> : tensor<4xf32>
%s = dense<[10.0, 20.0]> : tensor<2xf32>
%z = dense<0.0> : tensor<f32>
%r = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 2>,
    window_strides = array<i64: 2>}> ({
 ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %c = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
 }, {
 ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %c = stablehlo.add %a, %b : tensor<f32>
  stablehlo.return %c : tensor<f32>
 }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
""", "tensor<4xf32>")
case("scatter", "scatter_add", """
%x = dense<[1, 2, 3, 4]> : tensor<4xi32>
%i = dense<[[2], [9], [2]]> : tensor<3x1xi32>
%u = dense<[5, 6, -7]> : tensor<3xi32>
%r = "stablehlo.scatter"(%x, %i,
    %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
  scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
 ^bb0(%a: tensor<i32>, %b: tensor<i32>):
  %c = stablehlo.add %a, %b : tensor<i32>
  stablehlo.return %c : tensor<i32>
 }) : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
""", "tensor<4xi32>")
case("scatter", "scatter_multiply", """
%x = dense<[1, 2, 3, 4]> : tensor<4xi32>
%i = dense<[[2], [9], [2]]> : tensor<3x1xi32>
%u = dense<[5, 6, -7]> : tensor<3xi32>
%r = "stablehlo.scatter"(%x, %i,
    %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
  scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
 ^bb0(%a: tensor<i32>, %b: tensor<i32>):
  %c = stablehlo.multiply %a, %b : tensor<i32>
  stablehlo.return %c : tensor<i32>
 }) : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
""", "tensor<4xi32>")
case("scatter", "scatter_maximum", """
%x = dense<[1, 2, 3, 4]> : tensor<4xi32>
%i = dense<[[2], [9], [2]]> : tensor<3x1xi32>
%u = dense<[5, 6, -7]> : tensor<3xi32>
%r = "stablehlo.scatter"(%x, %i,
    %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
  scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
 ^bb0(%a: tensor<i32>, %b: tensor<i32>):
  %c = stablehlo.maximum %a, %b : tensor<i32>
  stablehlo.return %c : tensor<i32>
 }) : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
""", "tensor<4xi32>")
case("scatter", "scatter_minimum", """
%x = dense<[1, 2, 3, 4]> : tensor<4xi32>
%i = dense<[[2], [9], [2]]> : tensor<3x1xi32>
%u = dense<[5, 6, -7]> : tensor<3xi32>
%r = "stablehlo.scatter"(%x, %i,
    %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
  scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
 ^bb0(%a: tensor<i32>, %b: tensor<i32>):
  %c = stablehlo.minimum %a, %b : tensor<i32>
  stablehlo.return %c : tensor<i32>
 }) : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
""", "tensor<4xi32>")
case("scatter", "scatter_set", """
%x = dense<[1, 2, 3, 4]> : tensor<4xi32>
%i = dense<[[2], [9], [0]]> : tensor<3x1xi32>
%u = dense<[5, 6, -7]> : tensor<3xi32>
%r = "stablehlo.scatter"(%x, %i,
    %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
  scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
 ^bb0(%a: tensor<i32>, %b: tensor<i32>):
  stablehlo.return %b : tensor<i32>
 }) : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
""", "tensor<4xi32>")

SORT = """%r = "stablehlo.sort"(%x) <{{dimension = {}, is_stable = true}}> ({{
 ^bb0(%a: tensor<f32>, %b: tensor<f32>):
  %c = stablehlo.compare {}, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
 }}) : (tensor<2x3xf32>) -> tensor<2x3xf32>"""
XS = "%x = dense<[[3.0, -1.0, 2.0], [0.5, 7.0, 0.25]]> : tensor<2x3xf32>\n"
for axis, direction in [(1, "LT"), (0, "GT")]:
    case("order", f"sort_{direction}", XS + SORT.format(axis, direction), "tensor<2x3xf32>")
case("order", "sort_total_order", """
%x = dense<[0.0, -0.0, 0x7FC00000, 0xFFC00000, 0x7F800000, 1.0]> : tensor<6xf32>
%i = stablehlo.iota dim = 0 : tensor<6xi32>
%o, %r = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
 ^bb0(%a: tensor<f32>, %b: tensor<f32>, %p: tensor<i32>, %q: tensor<i32>):
  %c = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
 }) : (tensor<6xf32>, tensor<6xi32>) -> (tensor<6xf32>, tensor<6xi32>)
""", "tensor<6xi32>", "dense<[2, 4, 5, 0, 1, 3]> : tensor<6xi32>")
case("order", "sort_pairs", """
%k = dense<[3, 1, 3, 0]> : tensor<4xi32>
%v = dense<[10, 20, 30, 40]> : tensor<4xi32>
%o, %r = "stablehlo.sort"(%k, %v) <{dimension = 0 : i64, is_stable = true}> ({
 ^bb0(%a: tensor<i32>, %b: tensor<i32>, %p: tensor<i32>, %q: tensor<i32>):
  %c = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
 }) : (tensor<4xi32>, tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>)
""", "tensor<4xi32>")

case("products", "dot", """
%a = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
%b = dense<[[1.0, 0.0], [-1.0, 2.0], [0.5, 1.0]]> : tensor<3x2xf32>
%r = stablehlo.dot %a, %b : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
""", "tensor<2x2xf32>", "dense<[[0.5, 7.0], [2.0, 16.0]]> : tensor<2x2xf32>")
case("products", "dot_general", """
%a = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
%b = dense<[[1.0, 0.0], [-1.0, 2.0], [0.5, 1.0]]> : tensor<3x2xf32>
%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST]
    : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
""", "tensor<2x2xf32>")
case("products", "dot_general_batched", """
%a = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
%b = dense<[[1.0, 0.0], [-1.0, 2.0], [0.5, 1.0]]> : tensor<3x2xf32>
%r = stablehlo.dot_general %a, %b, batching_dims = [1] x [0], contracting_dims = [0] x [1] : (tensor<2x3xf32>,
    tensor<3x2xf32>) -> tensor<3xf32>
""", "tensor<3xf32>")
case("products", "dot_general_i8", """
%a = dense<[100, -128]> : tensor<2xi8>
%r = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : (tensor<2xi8>, tensor<2xi8>) -> tensor<i32>
""", "tensor<i32>")
case("products", "convolution", """
%x = dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]]]> : tensor<1x3x3x1xf32>
%k = dense<[[[[1.0]], [[2.0]]], [[[-1.0]], [[0.5]]]]> : tensor<2x2x1x1xf32>
%r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1],
    reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32>
""", "tensor<1x2x2x1xf32>")
case("products", "convolution_padded", """
%x = dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]], [[7.0], [8.0], [9.0]]]]> : tensor<1x3x3x1xf32>
%k = dense<[[[[1.0]], [[2.0]]], [[[-1.0]], [[0.5]]]]> : tensor<2x2x1x1xf32>
%r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [2, 1], pad = [[1, 1], [0, 1]], lhs_dilate = [1, 2], rhs_dilate = [2, 1],
    reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x3x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x5x1xf32>
""", "tensor<1x2x5x1xf32>")
case("products", "cholesky", """
%a = dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf32>
%c = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>
%m = dense<[[1.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>
%r = stablehlo.multiply %c, %m : tensor<2x2xf32>
""", "tensor<2x2xf32>", "dense<[[2.0, 0.0], [1.0, 2.0]]> : tensor<2x2xf32>")
case("products", "triangular_solve", """
%a = dense<[[2.0, 0.0], [1.0, 4.0]]> : tensor<2x2xf32>
%b = dense<[[2.0], [9.0]]> : tensor<2x1xf32>
%r = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false,
    transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
""", "tensor<2x1xf32>", "dense<[[1.0], [2.0]]> : tensor<2x1xf32>")

case("control", "if", """
%p = dense<true> : tensor<i1>
%x = dense<3> : tensor<i32>
%r = "stablehlo.if"(%p) ({
  %a = stablehlo.add %x, %x : tensor<i32>
  stablehlo.return %a : tensor<i32>
 }, {
  stablehlo.return %x : tensor<i32>
 }) : (tensor<i1>) -> tensor<i32>
""", "tensor<i32>")
case("control", "case_clamps", """
%i = dense<-4> : tensor<i32>
%x = dense<3> : tensor<i32>
%r = "stablehlo.case"(%i) ({
  %a = stablehlo.add %x, %x : tensor<i32>
  stablehlo.return %a : tensor<i32>
 }, {
  stablehlo.return %x : tensor<i32>
 }) : (tensor<i32>) -> tensor<i32>
""", "tensor<i32>")
case("control", "while", """
%z = dense<0> : tensor<i32>
%n = dense<7> : tensor<i32>
%o = dense<1> : tensor<i32>
%k, %r = stablehlo.while(%i = %z, %c = %o) : tensor<i32>, tensor<i32> cond {
  %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %p : tensor<i1>
 } do {
  %j = stablehlo.add %i, %o : tensor<i32>
  %d = stablehlo.add %c, %c : tensor<i32>
  stablehlo.return %j, %d : tensor<i32>, tensor<i32>
 }
""", "tensor<i32>")
