"""Shapes, indices, reductions, sorting, products, windows and linear algebra."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs import add, integers, normal, uniform

X = normal("x", 3, 4)
C = normal("c", 2, 3, 4)
I = np.array([2, 0, 1, 2], "int32")
OUT = np.array([-7, -1, 0, 2, 3, 99], "int32")

add("reshape", lambda x: (x.reshape(4, 3), x.reshape(2, -1), x.ravel(), x.reshape(1, 3, 1, 4)), X)
add("broadcast", lambda x, y: (x + y, jnp.broadcast_to(x, (2, 3, 4)), x[:, None] * y), X, normal("row", 4))
add("transpose", lambda x: (x.transpose(2, 0, 1), x.swapaxes(0, 2), jnp.moveaxis(x, 0, -1)), C)
add("slice", lambda x: (x[1:, ::2], x[::-1, 1:3], x[-1], x[0:0]), X)
add("pad", lambda x: (lax.pad(x, jnp.float32(0.5), [(1, 2, 0), (0, 1, 2)]), lax.pad(x, jnp.float32(0), [(-1, 0, 0), (2, -1, 1)])), X)
add("pad_modes", lambda x: (jnp.pad(x, 2, mode="reflect"), jnp.pad(x, 1, mode="edge"), jnp.pad(x, 1, mode="wrap")), X)
add("concatenate", lambda x, y: (jnp.concatenate([x, y, x], 0), jnp.stack([x, y], 1), jnp.hstack([x, y])), X, 2 * X)
add("split", lambda x: jnp.split(x, [1, 3], axis=1), X)
add("tile_repeat", lambda x: (jnp.tile(x, (2, 3)), jnp.repeat(x, 2, axis=1), jnp.roll(x, 2, axis=1), jnp.rot90(x)), X)
add("iota", lambda: (jnp.arange(6), lax.broadcasted_iota(jnp.float32, (2, 3), 1), jnp.eye(3, 4, 1), jnp.tri(4)))
add("triangles", lambda x: (jnp.tril(x), jnp.triu(x, 1), jnp.diag(x), jnp.diag(x[0])), X)
add("dynamic_slice", lambda x, i: (lax.dynamic_slice(x, (i, jnp.int32(1)), (2, 2)), lax.dynamic_index_in_dim(x, i, 0)), X,
    np.int32(2))
add("dynamic_slice_clamps", lambda x, i: lax.dynamic_slice(x, (i, -i), (2, 2)), X, np.int32(77))
add("dynamic_slice_unsigned", lambda x, i: lax.dynamic_slice(x, (i, i), (2, 2)), X, np.uint8(100))
add("dynamic_update_slice", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i)), X, normal("u", 2, 2), np.int32(1))
add("take", lambda x, i: (jnp.take(x, i, axis=0), x[i], x[:, i]), X, I)
for mode in ("clip", "fill", "wrap"):
    add(f"take_{mode}", lambda x, i, m=mode: jnp.take(x, i, axis=0, mode=m), X, OUT)
add("take_along_axis", lambda x, i: jnp.take_along_axis(x, i, axis=1), X, integers("i", 0, 4, 3, 2))
add("gather_points", lambda x, i, j: (x[i, :, j], x[0, i, j]), C, np.array([0, 1, 1]), np.array([3, 1, 0]))
add("gather_bool_mask", lambda x: jnp.where(x > 0, x, 0).sum(), X)
add("gather_batched", lambda x, i: jax.vmap(lambda r, k: r[k])(x, i), X, integers("gb", 0, 4, 3, 5))
for name, method in [("set", "set"), ("add", "add"), ("mul", "multiply"), ("min", "min"), ("max", "max")]:
    add(f"scatter_{name}", lambda x, i, u, m=method: getattr(x.at[i], m)(u), X, np.array([2, 0], "int32"),
        normal("su", 2, 4), grad=name != "mul")
    add(f"scatter_{name}_repeated", lambda x, i, u, m=method: getattr(x.at[i], m)(u), X, I,
        normal("sr", 4, 4) if name != "set" else np.ones((4, 4), "float32"), grad=name not in ("mul", "set"))
for mode in ("drop", "clip", "promise_in_bounds"):
    add(f"scatter_{mode}", lambda x, i, u, m=mode: x.at[i].add(u, mode=m), X,
        OUT if mode != "promise_in_bounds" else np.array([0, 1, 2, 2, 1, 0], "int32"), normal("sm", 6, 4))
add("scatter_slices", lambda x, u: (x.at[1:, ::2].set(u), x.at[:, 1].add(1), x.at[0].set(2)), X, normal("ss", 2, 2))
add("scatter_points", lambda x, i, j, u: x.at[i, j].add(u), X, np.array([0, 2, 2]), np.array([1, 3, 3]), normal("sp", 3))
add("scatter_apply", lambda x, i: x.at[i].apply(jnp.tanh), X, np.array([0, 2]), grad=False)
add("scatter_integers", lambda x, i: x.at[i].add(1), np.zeros(5, "int32"), np.array([1, 1, 4, 9]))
add("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 4), X, np.array([0, 3, 0]))
add("bincount", lambda i: jnp.bincount(i, length=5), np.array([0, 1, 1, 4, 3, 1]))
add("searchsorted", lambda a, v: jnp.searchsorted(a, v), np.array([1.0, 2, 4, 8], "float32"), uniform("v", 0, 9, 6),
    grad=False)
add("one_hot", lambda i: jax.nn.one_hot(i, 4), I)
add("interp", lambda x, a, b: jnp.interp(x, a, b), uniform("ix", 0, 4, 5), np.arange(5, dtype="float32"), normal("ib", 5))

for dtype in ("float32", "float64", "bfloat16", "int32", "uint8"):
    x = integers("r" + dtype, 0, 9, 3, 5, dtype="int32").astype(jnp.dtype(dtype)) if "int" in dtype else normal(
        "r", 3, 5, dtype=dtype)
    add(f"reduce_{dtype}", lambda x: (x.sum(), x.sum(0), x.max(1), x.min(), x.prod(1), x.argmax(1), x.argmin(), x.mean()), x,
        tolerance=2)
add("reduce_bool", lambda x: ((x > 0).any(1), (x > 0).all(), jnp.count_nonzero(x > 0)), X)
add("reduce_nan", lambda x: (x.max(1), x.min(1), x.sum(1), x.argmax(1), jnp.nanmax(x, 1)),
    np.array([[1, np.nan, 3], [np.inf, 2, -np.inf], [0.0, -0.0, 0]], "float32"), grad=False)
add("reduce_empty", lambda x: (x.sum(0), x.prod(0)), np.zeros((0, 3), "float32"))
add("reduce_own", lambda x: lax.reduce(x, jnp.float32(1), lambda a, b: a * b + a + b, (1,)), np.abs(X), grad=False)
add("reduce_pairs", lambda x, y: lax.reduce((x, y), (jnp.float32(0), jnp.float32(1)),
                                            lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,)), X, X, grad=False)
add("statistics", lambda x: (x.var(), x.std(0), jnp.linalg.norm(x), jnp.median(x, axis=1), jnp.ptp(x)), X, tolerance=2)
add("logsumexp", lambda x: (jax.nn.logsumexp(x, 1), jax.nn.softmax(x), jax.nn.log_softmax(x)), 3 * X, tolerance=2)
add("cumulative", lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x), lax.cummin(x, 1),
                             lax.cumlogsumexp(x), lax.cumsum(x, reverse=True)), X, tolerance=2)
add("sort", lambda x: (jnp.sort(x, 1), -jnp.sort(-x, 0), jnp.argsort(x, 1)), X)
add("sort_edges", lambda x: (jnp.sort(x), jnp.argsort(x)), np.array([0.0, np.nan, -0.0, np.inf, -np.inf, 1, -1], "float32"),
    grad=False)
add("sort_pairs", lambda k, v: lax.sort((k, v), num_keys=1), integers("k", 0, 3, 8), normal("kv", 8))
add("sort_two_keys", lambda k, l, v: lax.sort((k, l, v), num_keys=2), integers("k1", 0, 2, 8), integers("k2", 0, 3, 8),
    normal("k3", 8))
add("sort_integers", lambda x: (jnp.sort(x), jnp.argsort(x)), integers("si", -100, 100, 9, dtype="int8"))
add("top_k", lambda x: lax.top_k(x, 2), X)
add("unique_sized", lambda x: jnp.unique(x, size=4, fill_value=9), np.array([3, 1, 3, 2, 1]), grad=False)
add("percentile", lambda x: jnp.percentile(x, 30.0), X)

add("dot_vectors", lambda x, y: (x @ y, jnp.outer(x, y), jnp.vdot(x, y)), normal("dv", 4), normal("dw", 4))
add("dot_matrices", lambda x, y: (x @ y, y @ x, x.T @ y.T), X, normal("dm", 4, 3))
add("dot_batched", lambda x, y: x @ y, C, normal("db", 2, 4, 5))
add("dot_general", lambda x, y: lax.dot_general(x, y, (((2, ), (1, )), ((0, ), (2, )))), C, normal("dg", 3, 4, 2))
add("einsum", lambda x, y: (jnp.einsum("abc,cd->adb", x, y), jnp.einsum("abc,abc->a", x, x)), C, normal("es", 4, 5))
add("dot_int8", lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32), integers("d8", -128, 127, 3, 8, dtype="int8"),
    integers("e8", -128, 127, 8, 2, dtype="int8"))
add("dot_bf16", lambda x, y: (x @ y, lax.dot(x, y, preferred_element_type=jnp.float32)), normal("h", 3, 8, dtype="bfloat16"),
    normal("k", 8, 2, dtype="bfloat16"))
add("dot_f64", lambda x, y: x @ y, normal("f", 7, 8, dtype="float64"), normal("g", 8, 3, dtype="float64"))
add("dot_empty", lambda x, y: x @ y, np.zeros((3, 0), "float32"), np.zeros((0, 2), "float32"))
add("trace_kron", lambda x, y: (jnp.trace(x @ y), jnp.kron(x, y)), X, normal("tk", 4, 3))

K = normal("kernel", 3, 3, 2, 4)
IMAGE = normal("image", 2, 6, 7, 2)


def conv(x, k, **options):
    options.setdefault("padding", "SAME")
    return lax.conv_general_dilated(x, k, options.pop("strides", (1, 1)), options.pop("padding"),
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)


add("conv", conv, IMAGE, K)
add("conv_strides", lambda x, k: conv(x, k, strides=(2, 3), padding="VALID"), IMAGE, K)
add("conv_padding", lambda x, k: conv(x, k, padding=[(0, 2), (3, 1)]), IMAGE, K)
add("conv_dilated", lambda x, k: conv(x, k, padding=[(2, 2), (0, 1)], rhs_dilation=(2, 1), lhs_dilation=(1, 2)), IMAGE, K)
add("conv_groups", lambda x, k: conv(x, k, feature_group_count=2), IMAGE, normal("kg", 3, 3, 1, 4))
add("conv_batch_groups", lambda x, k: conv(x, k, batch_group_count=2), IMAGE, K)
add("conv_nchw", lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME"), normal("nchw", 2, 3, 5, 5),
    normal("oihw", 4, 3, 3, 3))
add("conv_1d", lambda x, k: jnp.convolve(x, k, mode="same"), normal("c1", 9), normal("k1", 3))
add("conv_3d", lambda x, k: lax.conv_general_dilated(x, k, (1, 1, 1), "VALID"), normal("c3", 1, 2, 4, 4, 4),
    normal("k3d", 2, 2, 2, 2, 2))
add("conv_transpose", lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
    IMAGE, K)
add("conv_bf16", conv, IMAGE.astype(jnp.bfloat16), K.astype(jnp.bfloat16))
add("max_pool", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID"), IMAGE)
add("avg_pool", lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), IMAGE)
add("window_dilated", lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), [(1, 0), (0, 1)], (2, 1), (1, 2)), X)
add("min_pool_integers", lambda x: lax.reduce_window(x, np.int32(100), lax.min, (2, ), (1, ), "SAME"), integers("mp", 0, 9, 7))
add("resize", lambda x: jax.image.resize(x, (2, 9, 5, 2), "bilinear"), IMAGE, tolerance=2)

SPD = (lambda a: a @ a.T + 4 * np.eye(4, dtype=a.dtype))(normal("spd", 4, 4, dtype="float64"))
L = np.linalg.cholesky(SPD)
add("cholesky", lambda a: jnp.linalg.cholesky(a), SPD.astype("float32"), tolerance=4)
add("cholesky_batched", lambda a: jnp.linalg.cholesky(a), np.stack([SPD, 2 * SPD]))
add("cholesky_not_positive", lambda a: jnp.linalg.cholesky(a), np.array([[1, 2], [2, 1]], "float32"), grad=False)
for side in (True, False):
    for lower in (True, False):
        for transposed in (True, False):
            name = f"triangular_solve_{'left' if side else 'right'}_{'lower' if lower else 'upper'}_{transposed:d}"
            add(name, lambda a, b, s=side, l=lower, t=transposed: lax.linalg.triangular_solve(
                a, b, left_side=s, lower=l, transpose_a=t), L if lower else L.T, normal("ts", 4, 4, dtype="float64"))
add("triangular_solve_unit", lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True, unit_diagonal=True),
    L.astype("float32"), normal("tu", 4, 2))
# Of a factor's argument Tlaloc reads one triangle, which alone has a derivative; JAX spreads it over both.
add("cho_solve", lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor((a + a.T) / 2, lower=True), b), SPD,
    normal("cs", 4, dtype="float64"), tolerance=4)
add("lu_solve", lambda a, b: jnp.linalg.solve(a, b), SPD, normal("ls", 4, dtype="float64"))
add("inverse", lambda a: jnp.linalg.inv(a), SPD)
add("determinant", lambda a: jnp.linalg.slogdet(a), SPD)
add("lu_solve_batched", lambda a, b: jnp.linalg.solve(a, b), normal("lb", 2, 3, 3, dtype="float64"), normal("lc", 2, 3, 1, dtype="float64"),
    tolerance=100)
add("lu_exchanges", lambda a: jax.scipy.linalg.lu(a), normal("lx", 4, 4, dtype="float64"), tolerance=100)
add("lu_tall", lambda a: jax.scipy.linalg.lu(a), normal("lt", 4, 2, dtype="float64"), tolerance=100)
add("lu_singular", lambda a: jax.scipy.linalg.lu_factor(a), np.array([[1., 2, 3], [2, 4, 6], [1, 1, 1]]), grad=False)
add("qr", lambda a: jnp.linalg.qr(a), SPD)
add("svd", lambda a: jnp.linalg.svd(a, compute_uv=False), SPD)
add("eigh", lambda a: jnp.linalg.eigh(a), SPD)
add("eig", lambda a: jnp.linalg.eigvals(a), SPD, grad=False)
add("expm", lambda a: jax.scipy.linalg.expm(a), SPD / 9, slow=True)
add("matrix_power", lambda a: jnp.linalg.matrix_power(a, 5), SPD / 9)
add("fft", lambda x: jnp.abs(jnp.fft.fft(x)), X, grad=False)
add("complex", lambda x: jnp.abs(x * (1 + 2j)), X, grad=False)
