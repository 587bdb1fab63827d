#!/usr/bin/env python3
"""Writes jax_goldens.txt: what JAX says of every differentiable op and composite, in f64 and f32.

usage: jax_goldens.py [CASE...] > jax_goldens.txt     (with the Python that ./setup --oracle makes)

A line "case NAME" starts a case. The lines after it are: dtype key shape values..., where the shape
is "scalar" or like "4x3" and the values are the shortest decimals that read back as the same bits.
Lines of dtype "real" are exact in f32 and stand once for both. f64 comes first, then f32. The keys,
each followed by a number from 0:
  in              the arguments
  dx, ct          tangents of the floating arguments, cotangents of the floating results
  v, w            directions in which the arguments and the cotangents of the vjp move
  out, jvp, vjp   results, their tangents, cotangents of the floating arguments
  second          the tangents of the vjp along (v, w)
  vmap            the second lane's results: the lanes are the arguments, and the floating ones
                  halved
"""
import os
import sys
import zlib

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["JAX_ENABLE_X64"] = "1"
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

INF, NAN = np.inf, np.nan
CASES = {}


def case(name, fn, *inputs, second=True, vmap=True):
    """fn: arrays -> array or tuple of arrays. Floating inputs must be exact in f32."""
    assert name not in CASES, name
    CASES[name] = (fn, [np.asarray(a) for a in inputs], second, vmap)


def a(*shape, seed=1):
    """Distinct multiples of 1/8 around 1/16, shuffled."""
    n = int(np.prod(shape))
    return ((np.random.default_rng(seed).permutation(n) - n // 2 + 0.5) / 8).reshape(shape)


# ---- elementwise ----
REAL = np.array([-1.75, -0.5, -0.125, 0.25, 0.625, 1.5])
POSITIVE = np.array([0.125, 0.5, 1.5, 3.0, 20.0])
UNIT = np.array([-0.875, -0.25, 0.125, 0.625])
ABOVE_ONE = np.array([1.125, 1.5, 3.0, 20.0])
EDGES = np.array([0.0, -0.0, 1.0, -1.0, INF, -INF, NAN, 40.0, -40.0, 1000.0, -1000.0])
UNARY = dict(
    neg=(lax.neg, REAL), abs=(lax.abs, REAL), sign=(lax.sign, REAL), ceil=(lax.ceil, REAL), floor=(lax.floor, REAL),
    round=(lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), np.array([-2.5, -0.5, 0.5, 1.25, 1.5])),
    round_even=(lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), np.array([-2.5, -0.5, 0.5, 1.25, 1.5])),
    exp=(lax.exp, REAL), expm1=(lax.expm1, REAL), log=(lax.log, POSITIVE), log1p=(lax.log1p, POSITIVE),
    sqrt=(lax.sqrt, POSITIVE), rsqrt=(lax.rsqrt, POSITIVE), cbrt=(lax.cbrt, REAL), logistic=(lax.logistic, REAL),
    tanh=(lax.tanh, REAL), sin=(lax.sin, REAL), cos=(lax.cos, REAL), tan=(lax.tan, REAL), asin=(lax.asin, UNIT),
    acos=(lax.acos, UNIT), atan=(lax.atan, REAL), sinh=(lax.sinh, REAL), cosh=(lax.cosh, REAL), asinh=(lax.asinh, REAL),
    acosh=(lax.acosh, ABOVE_ONE), atanh=(lax.atanh, UNIT), erf=(lax.erf, REAL), erfc=(lax.erfc, REAL),
    erf_inv=(lax.erf_inv, UNIT),
    stop_gradient=(lambda x: lax.stop_gradient(x) * x, REAL),
    optimization_barrier=(lambda x: lax.optimization_barrier(x * x), REAL),
    reduce_precision=(lambda x: lax.reduce_precision(x * x, 5, 10), REAL),
    convert=(lambda x: lax.convert_element_type(lax.convert_element_type(x * x, jnp.bfloat16), x.dtype), REAL),
    # activations
    relu=(jax.nn.relu, REAL), relu6=(jax.nn.relu6, np.append(REAL, [5.0, 6.5])),
    leaky_relu=(lambda x: jax.nn.leaky_relu(x, 0.25), REAL), elu=(lambda x: jax.nn.elu(x, 0.75), REAL),
    gelu=(lambda x: jax.nn.gelu(x, approximate=False), REAL), gelu_tanh=(lambda x: jax.nn.gelu(x, approximate=True), REAL),
    silu=(jax.nn.silu, REAL), softplus=(jax.nn.softplus, REAL), log_sigmoid=(jax.nn.log_sigmoid, REAL),
    hard_sigmoid=(jax.nn.hard_sigmoid, np.append(REAL, [-3.5, 3.5])),
    hard_swish=(jax.nn.hard_swish, np.append(REAL, [-3.5, 3.5])), mish=(jax.nn.mish, REAL))
for name, (fn, regular) in UNARY.items():
    case(name, fn, regular)
    case(name + "/edges", fn, EDGES, second=False)
case("tanh/rank 0", lax.tanh, np.array(0.75))
case("tanh/empty", lax.tanh, np.zeros((0, 3)))
for k in (-2, -1, 0, 1, 2, 3):
    case(f"integer_pow {k}", lambda x, k=k: lax.integer_pow(x, k), REAL)
    case(f"integer_pow {k}/edges", lambda x, k=k: lax.integer_pow(x, k), EDGES[:7], second=False)

BINARY = dict(add=(lax.add, a(6)), sub=(lax.sub, a(6)), mul=(lax.mul, a(6)), div=(lax.div, a(6)), rem=(lax.rem, a(6) * 4),
              pow=(lax.pow, POSITIVE), max=(lax.max, a(6)), min=(lax.min, a(6)), atan2=(lax.atan2, a(6)))
CROSS = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -2.0, INF, -INF, NAN])
X, Y = (g.ravel() for g in np.meshgrid(CROSS, CROSS, indexing="ij"))
for name, (fn, regular) in BINARY.items():
    case(name, fn, regular, a(len(regular), seed=2))
    case(name + "/edges", fn, X, Y, second=False)
case("select", lambda p, x, y: jnp.where(p, x * x, y * x), np.array([True, False, True]), a(3), a(3, seed=2))
case("select/not taken", lambda x: jnp.where(x > 0, jnp.log(x), 0.0), np.array([-1.0, 0.0, 2.0]), second=False)
case("clamp", lax.clamp, np.full(5, -0.5), np.array([-1.0, -0.25, 0.25, 0.5, 2.0]), np.full(5, 1.0))
case("clamp/edges", lax.clamp, np.array([0.0, 0, 0, 0, 2.0]), np.array([0.0, 1, NAN, INF, 0.5]), np.array([1.0, 1, 1, 1, 1]),
     second=False)
case("clip", lambda x: jnp.clip(x, -0.5, 1.0), REAL)
case("where", lambda x, y: jnp.where(x > y, x, y), a(2, 3), a(3, seed=2))

# ---- shapes ----
case("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (2, 4, 3), (0, 2)), a(2, 3))
case("reshape", lambda x: jnp.reshape(x * x, (3, 2)), a(2, 3))
case("transpose", lambda x: lax.transpose(x * x, (2, 0, 1)), a(2, 3, 2))
case("reverse", lambda x: lax.rev(x * x, (0, 1)), a(2, 3))
case("slice", lambda x: lax.slice(x, (1, 0), (5, 3), (2, 2)), a(5, 3))
case("pad", lambda x, v: lax.pad(x * x, v, ((-1, 1, 0), (0, 2, 1))), a(2, 3), np.array(0.5))
case("concatenate", lambda x, y: lax.concatenate((x * x, y), 1), a(2, 1), a(2, 2, seed=2))
case("dynamic_slice/clamped", lambda x, i, j: lax.dynamic_slice(x * x, (i, j), (1, 2)), a(2, 3), np.int64(1), np.int64(5))
case("dynamic_update_slice/clamped", lambda x, u, i, j: lax.dynamic_update_slice(x, u * u, (i, j)), a(2, 3), a(1, 2, seed=2),
     np.int64(9), np.int64(-9))
INDICES = np.array([2, 0, 2, 1])
OUTSIDE = np.array([-9, 0, 2, 2, 7])
case("gather", lambda x, i: jnp.take(x * x, i, axis=1, mode="clip"), a(2, 3), INDICES)
case("gather/fill", lambda x, i: jnp.take(x * x, i, axis=0, mode="fill"), a(3), OUTSIDE)
case("gather/clip", lambda x, i: jnp.take(x * x, jnp.maximum(i, 0), axis=0, mode="clip"), a(3), OUTSIDE)
for op in ("set", "add", "multiply", "min", "max"):
    unique = op == "multiply"  # JAX differentiates a product of updates if no element meets two
    case(f"scatter {op}", lambda x, u, i, op=op, q=unique: getattr(x.at[i], op)(u * u, mode="drop", unique_indices=q),
         a(4), a(3, seed=2), np.array([3, 0, 1]))
    if not unique:
        case(f"scatter {op}/duplicates, outside", lambda x, u, i, op=op: getattr(x.at[i], op)(u * u, mode="drop"),
             a(3), a(4, seed=2), np.array([2, 0, 2, 7]))
case("take_along_axis", lambda x, i: jnp.take_along_axis(x * x, i, axis=1), a(2, 3), np.array([[2, 0, 0, 1], [1, 1, 2, 0]]))
case("flip", lambda x: jnp.flip(x * x, 1), a(2, 3))
case("roll", lambda x: jnp.roll(x * x, 2, axis=1), a(2, 3))
case("repeat", lambda x: jnp.repeat(x * x, 2, axis=1), a(2, 3))
case("tile", lambda x: jnp.tile(x * x, (2, 3)), a(2, 2))
case("split", lambda x: tuple(p * p for p in jnp.split(x, 2, axis=1)), a(2, 4))
case("stack", lambda x, y: jnp.stack((x * y, y), 1), a(3), a(3, seed=2))
case("meshgrid", lambda x, y: tuple(jnp.meshgrid(x * x, y, indexing="ij")), a(2), a(3, seed=2))
case("diag", lambda x: jnp.diag(x * x), a(3))
case("diagonal", lambda x: jnp.diagonal(x * x), a(3, 3))
case("tril", lambda x: jnp.tril(x * x), a(3, 3))
case("triu", lambda x: jnp.triu(x * x, 1), a(3, 3))
case("eye", lambda x: jnp.eye(2, 3, 1, dtype=x.dtype) * x, a(2, 3))
case("tri", lambda x: jnp.tri(2, 3, 1, dtype=x.dtype) * x, a(2, 3))
case("arange", lambda x: jnp.arange(4, dtype=x.dtype) * x + 0.5, a(4))
case("linspace", lambda x, y: jnp.linspace(x, y, 5, dtype=x.dtype), np.array(-0.5), np.array(1.5))
case("one_hot", lambda i, x: jax.nn.one_hot(i, 3, dtype=x.dtype) * x, np.array([1, 0, 5]), a(3, 3))

# ---- reductions, orders ----
TIES = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [NAN, 0.0, 1.0], [-0.0, 0.0, -0.0]])
for name, fn in dict(reduce_sum=jnp.sum, reduce_prod=jnp.prod, reduce_max=jnp.max, reduce_min=jnp.min, mean=jnp.mean).items():
    case(name, lambda x, f=fn: f(x, axis=(0, 2)), a(2, 2, 3))
    case(name + "/edges", lambda x, f=fn: f(x, axis=1), TIES, second=False)
case("reduce_sum/empty", lambda x: jnp.sum(x, axis=1), np.zeros((2, 0)))
case("reduce_prod/empty", lambda x: jnp.prod(x, axis=1), np.zeros((2, 0)))
case("reduce_prod/one zero", jnp.prod, np.array([2.0, 0.0, 3.0]))
case("reduce_prod/two zeros", jnp.prod, np.array([0.0, 2.0, 0.0, 3.0]))
case("var", lambda x: jnp.var(x, axis=1, ddof=1), a(2, 4))
case("std", lambda x: jnp.std(x, axis=1), a(2, 4))
case("norm", lambda x: jnp.linalg.norm(x, axis=1), a(2, 3))
case("norm/zero", lambda x: jnp.linalg.norm(x), np.zeros(2), second=False)
case("logsumexp", lambda x: jax.nn.logsumexp(x, axis=1), a(2, 4))
SOFT = np.array([[1.0, 2.0, 3.0], [1000.0, 0.0, -1000.0], [-INF, 0.0, 0.0], [-INF, -INF, -INF]])
case("logsumexp/edges", lambda x: jax.nn.logsumexp(x, axis=1), SOFT, second=False)
case("argmax", lambda x: jnp.argmax(x, 1), TIES)
case("argmin", lambda x: jnp.argmin(x, 1), TIES)


def folded(x, start):  # acc (1 + x / 4) + sin x, in order
    for i in range(x.shape[1]):
        start = start * (1 + x[:, i] / 4) + jnp.sin(x[:, i])
    return start


case("reduce", folded, a(2, 3), np.array([0.5, -0.25]))


def best(acc, element):
    wins = element[0] > acc[0]
    return jnp.where(wins, element[0], acc[0]), jnp.where(wins, element[1], acc[1])


case("reduce/tuple", lambda x, y: lax.reduce((x * x, y), (jnp.asarray(-1.0, x.dtype), jnp.asarray(0.0, x.dtype)), best, (1,)),
     a(2, 3), a(2, 3, seed=2))
for reverse in (False, True):
    for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
        case(name + ("/reverse" if reverse else ""), lambda x, f=getattr(lax, name), r=reverse: f(x, axis=1, reverse=r), a(2, 4))
case("cumprod/zeros", lambda x: lax.cumprod(x), np.array([2.0, 0.0, 3.0, 0.0, -1.0]))
case("cummax/ties", lambda x: lax.cummax(x), np.array([1.0, 3.0, 3.0, 0.5]), second=False)
case("sort", lambda x: jnp.sort(x * x, axis=0), a(3, 2))
case("sort/edges", lambda x: jnp.sort(x), np.array([2.0, NAN, -0.0, 0.0, 2.0, -INF, 1.0]), second=False)
case("sort/keys", lambda k, x, y: lax.sort((k, x, y * y), num_keys=2), np.array([3, 1, 2, 1, 0]), a(5), a(5, seed=2))
case("sort_together", lambda k, x, y: lax.sort((k, x * x, y), dimension=0, num_keys=2),
     np.array([[3, 1], [2, 1], [3, 0]]), a(3, 2), a(3, 2, seed=2))
case("sort/comparator", lambda x: jnp.take(x, jnp.argsort(-jnp.abs(x))), a(5))
RECORDS = np.array([0.5, -0.5, 0.25, -0.75, 1.0, -0.25])
case("sort_by", lambda x, y: (lambda o: (x[o] * x[o], y[o]))(jnp.lexsort((y, -jnp.abs(x)))), RECORDS, a(6, seed=2))
case("argsort", lambda x: jnp.argsort(x, axis=1), a(2, 4))
case("top_k", lambda x: lax.top_k(x * x, 2), a(2, 4))

# ---- products ----
case("dot_general", lambda x, y: lax.dot_general(x, y, (((3, 0), (1, 3)), ((1,), (2,)))), a(3, 2, 2, 4), a(2, 4, 2, 3, seed=2))
case("dot_general/empty", lambda x, y: x @ y, np.zeros((2, 0)), np.zeros((0, 3)))
case("matmul", jnp.matmul, a(2, 3), a(3, 2, seed=2))
case("einsum", lambda x, y, z: jnp.einsum("ij,jk,k->ik", x, y, z), a(2, 3), a(3, 2, seed=2), a(2, seed=3))
case("inner", jnp.inner, a(2, 3), a(2, 3, seed=2))
case("outer", jnp.outer, a(2), a(3, seed=2))
case("tensordot", lambda x, y: jnp.tensordot(x, y, 2), a(2, 3, 2), a(3, 2, 2, seed=2))
A3 = np.array([[4.0, 0.5, 0.25], [1.0, 3.0, -0.5], [0.5, -0.25, 2.0]])
# JAX's rule takes tangents to be symmetric; symmetrized, both rules mean the same function.
case("cholesky", lambda x: lax.linalg.cholesky(x, symmetrize_input=True), A3)
case("cholesky/not definite", lambda x: lax.linalg.cholesky(x, symmetrize_input=True), np.array([[1.0, 2.0], [2.0, 1.0]]),
     second=False)
for lower in (True, False):
    for transpose in (True, False):
        case(f"triangular_solve {'lower' if lower else 'upper'}{' transposed' if transpose else ''}",
             lambda x, y, l=lower, t=transpose: lax.linalg.triangular_solve(x, y, left_side=True, lower=l, transpose_a=t),
             A3, a(3, 2))
case("triangular_solve/singular", lambda x, y: lax.linalg.triangular_solve(x, y, left_side=True, lower=True),
     np.array([[1.0, 0.0], [2.0, 0.0]]), np.ones((2, 1)), second=False)

# ---- windows ----
LAYOUTS = {1: ("NWC", "WIO", "NWC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}


def conv(spatial, **kw):
    return lambda x, k: lax.conv_general_dilated(x, k, dimension_numbers=LAYOUTS[spatial], **kw)


case("conv1d", conv(1, window_strides=(2,), padding=((1, 1),)), a(2, 5, 2), a(3, 2, 2, seed=2))
case("conv1d/same", conv(1, window_strides=(2,), padding="SAME"), a(1, 5, 1), a(2, 1, 2, seed=2))
case("conv2d", conv(2, window_strides=(1, 1), padding="VALID", rhs_dilation=(2, 2)), a(1, 4, 3, 2), a(2, 2, 2, 2, seed=2))
case("conv2d/groups", conv(2, window_strides=(1, 1), padding="VALID", feature_group_count=2), a(1, 3, 2, 4),
     a(2, 1, 2, 4, seed=2))
case("conv3d", conv(3, window_strides=(1, 1, 1), padding="VALID"), a(1, 2, 3, 2, 1), a(2, 2, 1, 1, 2, seed=2))
case("convolution/dilated", conv(1, window_strides=(2,), padding=((-1, 2),), lhs_dilation=(3,), rhs_dilation=(2,)),
     a(1, 4, 2), a(2, 2, 1, seed=2))
case("conv1d transposed", lambda x, k: lax.conv_transpose(x, k, (2,), ((1, 2),), dimension_numbers=LAYOUTS[1]), a(1, 3, 2),
     a(3, 2, 1, seed=2))


def window(init, fn, size, strides, padding):
    return lambda x: lax.reduce_window(x, jnp.asarray(init, x.dtype), fn, size, strides, padding)


PADDED = ((1, 0), (0, 1))
for name, init, fn in (("sum", 0.0, lax.add), ("max", -INF, lax.max), ("min", INF, lax.min)):
    case(f"reduce_window {name}", window(init, fn, (2, 2), (1, 2), PADDED), a(3, 4))


def product_windows(x):  # JAX's reduce_window has no derivative but of sum, max and min
    p = jnp.pad(x, PADDED, constant_values=1)
    y = jnp.stack([jnp.stack([jnp.prod(p[i:i + 2, j:j + 2]) for j in (0, 2)]) for i in range(3)])
    if not isinstance(y, jax.core.Tracer):
        assert np.allclose(window(1.0, lax.mul, (2, 2), (1, 2), PADDED)(x), y, rtol=1e-6)
    return y


case("reduce_window prod", product_windows, a(3, 4))


def folded_windows(x):  # acc (1 + x / 4) + sin x over windows of 2 x 2, 3 apart in axis 1, in order
    x = jnp.pad(x, ((1, 0), (0, 1)))
    rows = []
    for i in range(x.shape[0] - 1):
        row = []
        for j in range(0, x.shape[1] - 3, 2):
            acc = jnp.zeros((), x.dtype)
            for p, q in ((0, 0), (0, 3), (1, 0), (1, 3)):
                acc = acc * (1 + x[i + p, j + q] / 4) + jnp.sin(x[i + p, j + q])
            row.append(acc)
        rows.append(jnp.stack(row))
    return jnp.stack(rows)


case("reduce_window/any function", folded_windows, a(2, 5))
WINDOWED = np.array([[1.0, 3.0, 3.0, 0.0], [3.0, 2.0, 1.0, 5.0], [0.0, 5.0, 5.0, 4.0]])
case("reduce_window max/ties", window(-INF, lax.max, (2, 2), (1, 2), PADDED), WINDOWED, second=False)
case("max_pool", window(-INF, lax.max, (1, 2, 2, 1), (1, 1, 1, 1), "VALID"), a(1, 3, 4, 2))
case("max_pool/same", window(-INF, lax.max, (1, 3, 1), (1, 2, 1), "SAME"), a(1, 5, 2))
case("avg_pool", lambda x: window(0.0, lax.add, (1, 2, 1), (1, 2, 1), "VALID")(x) / 2, a(1, 6, 2))
case("avg_pool/same", lambda x: (s := window(0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"))(x) / s(jnp.ones_like(x)),
     a(1, 3, 4, 1))

# ---- composites ----
case("softmax", lambda x: jax.nn.softmax(x, 1), a(2, 4))
case("softmax/edges", lambda x: jax.nn.softmax(x, 1), SOFT, second=False)
case("log_softmax", lambda x: jax.nn.log_softmax(x, 1), a(2, 4))
case("log_softmax/edges", lambda x: jax.nn.log_softmax(x, 1), SOFT[:3], second=False)
case("cross_entropy", lambda x, i: -jnp.take_along_axis(jax.nn.log_softmax(x, 1), i[:, None], 1)[:, 0], a(3, 4), np.array([3, 0, 1]))


def normalized(x, axis, epsilon):
    mean = jnp.mean(x, axis, keepdims=True)
    return (x - mean) / jnp.sqrt(jnp.mean((x - mean) ** 2, axis, keepdims=True) + epsilon)


case("layer_norm", lambda x, s, b: normalized(x, 1, 2.0**-10) * s + b, a(2, 4), a(4, seed=2), a(4, seed=3))
case("rms_norm", lambda x, s: x / jnp.sqrt(jnp.mean(x * x, 1, keepdims=True) + 2.0**-10) * s, a(2, 4), a(4, seed=2))
case("batch_norm", lambda x, s, b: normalized(x, 0, 2.0**-10) * s + b, a(4, 2), a(2, seed=2), a(2, seed=3))
case("swiglu", lambda g, u: jax.nn.silu(g) * u, a(5), a(5, seed=2))


def rope(interleaved):
    def turn(x, positions):
        half = x.shape[-1] // 2
        angle = positions[..., None] * 10000.0 ** (-jnp.arange(half) / half)
        c, s = jnp.cos(angle).astype(x.dtype), jnp.sin(angle).astype(x.dtype)
        if interleaved:
            u, v = x[..., ::2], x[..., 1::2]
            return jnp.stack((u * c - v * s, v * c + u * s), -1).reshape(x.shape)
        u, v = x[..., :half], x[..., half:]
        return jnp.concatenate((u * c - v * s, v * c + u * s), -1)
    return turn


case("rope", rope(False), a(3, 4), np.array([0, 1, 5]))
case("rope/interleaved", rope(True), a(3, 4), np.array([0, 1, 5]))


def attention(causal=False, window=0, cap=0.0, scale=None):
    """Written out, because jax.nn.dot_product_attention forms the scores in f32; checked against it."""
    def attend(q, k, v, mask=None):
        factor = q.shape[-1] ** -0.5 if scale is None else scale
        group = q.shape[0] // k.shape[0]
        s = jnp.einsum("hqd,hkd->hqk", q, jnp.repeat(k, group, 0)) * factor
        if cap:
            s = cap * jnp.tanh(s / cap)
        behind = jnp.arange(s.shape[1])[:, None] + (s.shape[2] - s.shape[1]) - jnp.arange(s.shape[2])
        if causal:
            s = jnp.where(behind >= 0, s, -INF)
        if window:
            s = jnp.where(behind < window, s, -INF)
        if mask is not None:
            s = jnp.where(mask, s, -INF) if mask.dtype == bool else s + mask
        y = jnp.einsum("hqk,hkd->hqd", jax.nn.softmax(s, -1), jnp.repeat(v, group, 0))
        if not cap and v.shape[-1] == k.shape[-1] and not isinstance(y, jax.core.Tracer):
            given = {} if mask is None else {"mask" if mask.dtype == bool else "bias": mask[None]}
            theirs = jax.nn.dot_product_attention(
                *(jnp.swapaxes(t[None], 1, 2) for t in (q, k, v)), **given, is_causal=causal, scale=scale,
                local_window_size=(window - 1, 0) if window else None)
            assert np.allclose(jnp.swapaxes(theirs, 1, 2)[0], y, rtol=1e-4, atol=1e-6)
        return y
    return attend


Q, K, V = a(2, 3, 4), a(2, 3, 4, seed=2), a(2, 3, 4, seed=3)
case("attention", attention(), Q, K, V)
case("attention/causal", attention(causal=True), Q, K, V)
case("attention/causal, more keys", attention(causal=True), Q, a(2, 5, 4, seed=2), a(2, 5, 2, seed=3))
case("attention/grouped queries", attention(causal=True, scale=0.75), a(4, 3, 2), a(2, 3, 2, seed=2), a(2, 3, 2, seed=3))
case("attention/window", attention(causal=True, window=2), Q, K, V)
case("attention/mask", attention(), Q, K, V,
     np.array([[[1, 0, 1], [0, 1, 1], [1, 1, 1]], [[0, 0, 1], [1, 1, 0], [1, 0, 0]]], bool))
case("attention/bias", attention(), Q, K, V, a(2, 3, 3, seed=4))
case("attention/soft cap", attention(causal=True, cap=0.5), Q, K, V)

# ---- a mesh of one device ----


def alone(fn):
    return lambda x: jax.vmap(lambda y: fn(y * y), axis_name="data")(x[None])[0]


case("all_reduce sum", alone(lambda x: lax.psum(x, "data")), a(2, 3))
case("all_gather", alone(lambda x: lax.all_gather(x, "data", axis=1, tiled=True)), a(2, 3))
case("sharding_constraint", lambda x: lax.with_sharding_constraint(x * x, jax.sharding.NamedSharding(
    jax.sharding.Mesh(np.array(jax.devices()[:1]), ("data",)), jax.sharding.PartitionSpec("data", None))), a(2, 3))
case("reduce_scatter", alone(lambda x: lax.psum_scatter(x, "data", scatter_dimension=0, tiled=True)), a(2, 3))


KINDS = {"float64": "f64", "float32": "f32", "int32": "i32", "int64": "i64", "bool": "bool"}


def emit(key, arrays, kind=None):
    for i, v in enumerate(map(np.asarray, arrays)):
        shape = "x".join(map(str, v.shape)) or "scalar"
        values = (str(int(e)) if v.dtype.kind in "bi" else str(e).removesuffix(".0") for e in v.ravel())
        print(kind if kind and v.dtype.kind == "f" else KINDS[v.dtype.name], f"{key}{i}", shape, *values)


def floating(arrays):
    return [v for v in arrays if jnp.issubdtype(v.dtype, jnp.floating)]


def write(name):
    fn, inputs, second, vmap = CASES[name]
    print("case", name)
    for v in inputs:
        assert v.dtype.kind != "f" or np.array_equal(v, v.astype(np.float32), equal_nan=True), name
    emit("in", inputs, "real")
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    like = lambda arrays: [rng.integers(-8, 9, v.shape) / 8 for v in arrays]
    results = lambda *args: jax.tree.leaves(fn(*args))
    x, y = floating(inputs), floating(results(*map(jnp.asarray, inputs)))
    dx, ct, v, w = like(x), like(y), like(x), like(y)
    smooth = x and y
    if smooth:
        emit("dx", dx, "real"), emit("ct", ct, "real")
    if smooth and second:
        emit("v", v, "real"), emit("w", w, "real")
    for dtype in (jnp.float64, jnp.float32):
        cast = lambda arrays: tuple(jnp.asarray(t, dtype) for t in arrays)
        args = [jnp.asarray(t, dtype if t.dtype.kind == "f" else None) for t in inputs]
        emit("out", results(*args))
        if smooth:
            def moved(*at):
                at = iter(at)
                return tuple(floating(results(*(next(at) if t.dtype == dtype else t for t in args))))
            at = cast(x)
            emit("jvp", jax.jvp(moved, at, cast(dx))[1])
            pulled = lambda at, ct: jax.vjp(moved, *at)[1](ct)
            emit("vjp", pulled(at, cast(ct)))
            if second:
                emit("second", jax.jvp(pulled, (at, cast(ct)), (cast(v), cast(w)))[1])
        if vmap:
            lanes = jax.vmap(fn)(*(jnp.stack((t, t / 2 if t.dtype == dtype else t)) for t in args))
            emit("vmap", [t[1] for t in jax.tree.leaves(lanes)])


def main():
    for name in sys.argv[1:] or CASES:
        write(name)


if __name__ == "__main__":
    main()
