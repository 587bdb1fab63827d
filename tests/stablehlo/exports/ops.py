"""Single operations, over element types and edge cases."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy import special

from programs import add, integers, normal, uniform

INF, NAN = float("inf"), float("nan")
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.5, 1e-6, -1e6, INF, -INF, NAN]

# (name, function, domain, tolerance)
UNARY = [
    ("abs", lax.abs, (-3, 3), 1), ("neg", lax.neg, (-3, 3), 1), ("sign", lax.sign, (-3, 3), 1),
    ("ceil", lax.ceil, (-3, 3), 1), ("floor", lax.floor, (-3, 3), 1), ("round_even", jnp.round, (-3, 3), 1),
    ("round_away", lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), (-3, 3), 1),
    ("exp", lax.exp, (-10, 10), 1), ("exp2", lax.exp2, (-10, 10), 1), ("expm1", lax.expm1, (-2, 2), 1),
    ("log", lax.log, (0.01, 9), 1), ("log1p", lax.log1p, (-0.9, 9), 1), ("sqrt", lax.sqrt, (0.1, 9), 1),
    ("rsqrt", lax.rsqrt, (0.1, 9), 1), ("cbrt", lax.cbrt, (-9, 9), 1), ("tanh", lax.tanh, (-5, 5), 1),
    ("logistic", lax.logistic, (-9, 9), 1), ("sin", lax.sin, (-9, 9), 1), ("cos", lax.cos, (-9, 9), 1),
    ("tan", lax.tan, (-1.4, 1.4), 1), ("asin", lax.asin, (-0.9, 0.9), 2), ("acos", lax.acos, (-0.9, 0.9), 2),
    ("atan", lax.atan, (-9, 9), 1), ("sinh", lax.sinh, (-5, 5), 2), ("cosh", lax.cosh, (-5, 5), 2),
    ("asinh", lax.asinh, (-5, 5), 2), ("acosh", lax.acosh, (1.1, 9), 2), ("atanh", lax.atanh, (-0.9, 0.9), 2),
    ("erf", lax.erf, (-3, 3), 2), ("erfc", lax.erfc, (-3, 3), 20), ("erf_inv", lax.erf_inv, (-0.95, 0.95), 20),
    ("lgamma", lax.lgamma, (0.5, 9), 20), ("digamma", lax.digamma, (0.5, 9), 20), ("square", lax.square, (-3, 3), 1),
    ("reciprocal", lambda x: 1 / x, (0.2, 3), 1), ("is_finite", lax.is_finite, (-3, 3), 1),
    ("softplus", jax.nn.softplus, (-9, 9), 2), ("gelu", jax.nn.gelu, (-4, 4), 4), ("silu", jax.nn.silu, (-9, 9), 2),
    ("relu", jax.nn.relu, (-3, 3), 1),
]

for name, function, (low, high), tolerance in UNARY:
    add(name, lambda x, y, f=function: (f(x), f(y)), uniform(name, low, high, 24), uniform(name, low, high, 24, dtype="float64"),
        tolerance=tolerance, scaled=name == "gelu")  # it cancels below -3
    add(f"{name}_edges", function, np.array(EDGES, "float32"), grad=False, tolerance=tolerance, scaled=False)
for name in ("exp", "tanh", "logistic", "log", "rsqrt", "gelu"):
    function, (low, high), tolerance = next(row[1:] for row in UNARY if row[0] == name)
    for dtype in ("bfloat16", "float16"):
        add(f"{name}_{dtype}", function, uniform(name, max(low, -4), min(high, 4), 24, dtype=dtype),
            tolerance=tolerance)

A, B = uniform("a", -3, 3, 4, 5), uniform("b", 0.5, 3, 4, 5)
for name, function in [("add", lax.add), ("sub", lax.sub), ("mul", lax.mul), ("div", lax.div), ("max", lax.max),
                       ("min", lax.min), ("rem", lax.rem), ("atan2", lax.atan2), ("nextafter", lax.nextafter)]:
    add(f"{name}_float32", function, A, B, grad=name != "nextafter", scaled=False)
    add(f"{name}_edges", lambda x, y, f=function: f(*jnp.broadcast_arrays(x[:, None], y)),
        np.array(EDGES, "float32"), np.array(EDGES, "float32"), grad=False, scaled=False)
add("pow_float32", lax.pow, B, A, tolerance=4, scaled=False)
add("pow_float64", lax.pow, B.astype("float64"), A.astype("float64"), tolerance=4, scaled=False)
add("integer_pow", lambda x: (x**3, x**-2, lax.integer_pow(x, 7)), B, tolerance=4, scaled=False)
for dtype in ("int8", "int32", "uint8", "uint32", "int64", "uint64", "int16", "uint16"):
    info = np.iinfo(dtype)
    x = integers(dtype, info.min, info.max, 16, dtype=dtype)
    y = np.where(integers(dtype + "y", 0, 2, 16, dtype="int8") == 1, 3, 7).astype(dtype)
    x[:4] = [info.min, info.max, 0, 1]
    add(f"arithmetic_{dtype}", lambda x, y: (x + y, x - y, x * y, lax.div(x, y), lax.rem(x, y), lax.max(x, y),
                                             lax.min(x, y), lax.neg(x), lax.sign(x)), x, y)
    add(f"bits_{dtype}", lambda x, y: (x & y, x | y, x ^ y, ~x, lax.shift_left(x, y), lax.population_count(x),
                                       lax.shift_right_logical(x, y), lax.shift_right_arithmetic(x, y), lax.clz(x)), x, y)
    add(f"compare_{dtype}", lambda x, y: (x < y, x <= y, x > y, x >= y, x == y, x != y), x, y)
add("compare_float_edges", lambda x: (x[:, None] < x, x[:, None] <= x, x[:, None] == x, x[:, None] != x, x[:, None] > x),
    np.array(EDGES, "float32"), grad=False)
add("logical", lambda x, y: (x & y, x | y, x ^ y, ~x, x == y), np.array([True, True, False, False]),
    np.array([True, False, True, False]))
add("select", lambda p, x, y: jnp.where(p, x, y), A > 0, A, B)
add("select_scalar", lambda p, x, y: lax.select(p, x, y), np.array(True), A, B)
add("clamp", lambda x: lax.clamp(jnp.float32(-1), x, jnp.float32(1)), A)
add("clamp_arrays", lambda a, x, b: lax.clamp(a, x, b), A - 1, A * 2, A + 1)
add("clamp_nan", lambda x: lax.clamp(jnp.float32(-1), x, jnp.float32(1)), np.array(EDGES, "float32"), grad=False)

TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16",
         "float32", "float64"]
for source in TYPES:
    x = np.array([0, 1, 2, 100, 1, 0], source) if source.startswith(("u", "b")) and source != "bfloat16" else jnp.array(
        [0, 1, -2, 100, -1, 5], source)
    add(f"convert_from_{source}", lambda x: tuple(x.astype(t) for t in TYPES), np.asarray(x))
add("convert_rounds", lambda x: (x.astype("bfloat16"), x.astype("float16"), x.astype("int32")),
    np.array([1.0009765, 1.00048828125, 3.0e-5, 65519.0, 1.00390625, -2.5, 2.5, 0.1], "float32"))
add("bitcast", lambda x: (lax.bitcast_convert_type(x, jnp.int32), lax.bitcast_convert_type(x, jnp.uint8)), A, grad=False)
add("bitcast_wider", lambda x: lax.bitcast_convert_type(x, jnp.uint32), integers("w", 0, 255, 3, 4, dtype="uint8"))
add("reduce_precision", lambda x: lax.reduce_precision(x, 5, 10), A, grad=False)
add("constants", lambda x: (x + jnp.array([INF, -INF, NAN, 1e-30, 3.4e38]), jnp.full((2, 3), NAN), jnp.zeros((0, 3)),
                            jnp.arange(7), np.linspace(0, 1, 13)), np.ones(5, "float32"), grad=False)
add("polygamma", lambda x: special.polygamma(1, x), uniform("pg", 1, 5, 6), grad=False, tolerance=50)
add("zeta", lambda x: special.zeta(x, 2.0), uniform("zeta", 2, 5, 6), grad=False, tolerance=50)
add("betainc", lambda a, b, x: special.betainc(a, b, x), uniform("ba", 1, 3, 5), uniform("bb", 1, 3, 5),
    uniform("bx", 0.1, 0.9, 5), grad=False, tolerance=50)
add("igamma", lambda a, x: special.gammainc(a, x), uniform("ga", 1, 3, 5), uniform("gx", 0.5, 4, 5), grad=False,
    tolerance=50)
add("bessel", lambda x: (special.i0e(x), special.i1e(x)), uniform("bessel", -5, 5, 8), grad=False, tolerance=50)
