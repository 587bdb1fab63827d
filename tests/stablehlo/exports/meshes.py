"""Programs over meshes of four and of two devices: shardings, constraints, and functions that each device runs."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from programs import add as add_program, normal

DEVICES = np.array(jax.devices()[:4])
GRID = Mesh(DEVICES.reshape(2, 2), ("x", "y"))
LINE = Mesh(DEVICES[:2], ("data",))
add = functools.partial(add_program, mesh=True)
A, B, BIAS = normal("ma", 8, 4), normal("mb", 4, 6), normal("mbias", 6)


def lay(x, *spec, mesh=GRID):
    return lax.with_sharding_constraint(x, NamedSharding(mesh, P(*spec)))


def named(*spec, mesh=GRID):
    return NamedSharding(mesh, P(*spec))


def each(in_specs, out_specs, mesh=GRID, **options):
    return lambda f: jax.shard_map(f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, **options)


# ---- shardings and constraints ----
add("mesh_arguments", lambda a, b: (jnp.tanh(a @ b), (a @ b).sum(0)), A, B,
    jit={"in_shardings": (named("x", None), named(None, "y")), "out_shardings": (named(("x", "y")), named("y"))})
add("mesh_constraints", lambda a, b: lay(jnp.tanh(lay(a, "x") @ lay(b, None, "y")), "x", "y").sum(), A, B)
add("mesh_open", lambda a: lay(lay(a, P.UNCONSTRAINED, "y") * 2, ("x", "y"), None), A)
add("mesh_loop", lambda a: lax.fori_loop(0, 3, lambda i, x: lay(jnp.sin(x), "x"), a), A)
add("mesh_branch", lambda a, b: lax.cond(b[0, 0] > 0, lambda x: lay(x, "x") * x, lambda x: x * 2, a), A, B)
add("mesh_line", lambda a, b: lay(a @ b, "data", mesh=LINE), A, B, jit={"in_shardings": (named("data", mesh=LINE), None)})


def mlp(params, x, y):
    hidden = lay(jnp.tanh(lay(x, "x") @ lay(params[0], None, "y")), "x", "y")
    return jnp.mean((hidden @ lay(params[1], "y") - y)**2)


def step(a, b, x, y):
    loss, grads = jax.value_and_grad(mlp)((a, b), x, y)
    return loss, a - 0.1 * grads[0], b - 0.1 * grads[1]


add("mesh_mlp_step", step, normal("w1", 4, 8), normal("w2", 8, 2), A, normal("my", 8, 2), tolerance=8)

# ---- what each device runs ----
add("mesh_psum", each((P("x", "y"), P("y", None)), P("x", None))(lambda a, b: lax.psum(a @ b, "y")), A, B)
add("mesh_psum_unchecked", each((P("x", "y"), P("y", None)), P("x", None), check_vma=False)(
    lambda a, b: lax.psum(jnp.tanh(a @ b), "y")), A, B)
add("mesh_exchange", each((P("x", "y"), P("y", None)), (P(None, "y"), P("x", "y"), P()), check_vma=False)(
    lambda a, b: (lax.all_gather(a, "x", axis=0, tiled=True), lax.psum_scatter(a @ b, "y", scatter_dimension=1, tiled=True),
                  lax.psum(a.sum(0), ("x", "y")))), A, B)
add("mesh_both_axes", each(P(("x", "y")), (P(), P(("x", "y"))), check_vma=False)(
    lambda a: (lax.all_gather(a * a, ("x", "y"), axis=0, tiled=True),
               lax.psum_scatter(jnp.sin(lax.all_gather(a, ("x", "y"), axis=0, tiled=True)), ("x", "y"),
                                scatter_dimension=0, tiled=True))), A)
add("mesh_extremes", each(P("x", "y"), (P("x"), P()), check_vma=False)(
    lambda a: (lax.pmax(a.max(1), "y"), lax.pmin(a.min(), ("x", "y")))), A, grad=False)
add("mesh_partial", lambda a: each((P("x", None),), P(None, None), axis_names={"x"})(
    lambda a: jnp.tanh(lax.psum(a, "x")))(a).sum(), A)
add("mesh_captured", lambda a, b: each(P("x"), P("x"))(lambda a: a * b)(a), A, normal("mc", 4))
add("mesh_replicated", each(P(), P(), check_vma=False)(lambda a: a * a), A)
add("mesh_scan", each(P("x"), P("x"))(
    lambda a: lax.scan(lambda c, _: (jnp.sin(c) + lax.pmean(c, "x"), c.sum()), a, None, length=3)[0]), A)
add("mesh_inner_jit", each(P("x"), P("x"))(lambda a: jax.jit(lambda v: v - lax.pmean(v, "x"))(a)), A)
add("mesh_grad_inside", lambda a, b: jax.grad(lambda a: each((P("x", "y"), P("y")), P("x"))(
    lambda a, b: lax.psum(a @ b, "y"))(a, b).sum())(a), A, B)
add("mesh_vmap", jax.vmap(each(P("x"), P("x"))(lambda a: a - lax.psum(a, "x"))), normal("mv", 3, 4, 2))
add("mesh_ring", each(P("x"), P("x"))(lambda a: lax.ppermute(jnp.sin(a), "x", [(0, 1), (1, 0)])), A)
add("mesh_shift", each(P("x", "y"), P("x", "y"))(lambda a: lax.ppermute(a * a, "y", [(0, 1)])), A)
add("mesh_permute", each(P(("x", "y")), P(("x", "y")))(lambda a: lax.ppermute(a, ("x", "y"), [(0, 3), (3, 1), (1, 0)]) * a), A)
add("mesh_turn", each(P("x", None), P(None, "x"))(lambda a: lax.all_to_all(jnp.sin(a), "x", 1, 0, tiled=True)), A)
add("mesh_turn_back", each(P(None, "y"), P("y"))(lambda a: lax.all_to_all(a * a, "y", 0, 1, tiled=True)), A)
add("mesh_turn_both", each(P(("x", "y")), P(("x", "y")))(lambda a: lax.all_to_all(a, ("x", "y"), 1, 1, tiled=True) * a), A)
# Its transpose in JAX is of another shape than its argument.
add("mesh_turn_untiled", each(P("x"), P("x"))(
    lambda a: lax.all_to_all(a.reshape(4, 2, 2), "x", 1, 0) @ jnp.ones((2, 3), jnp.float32)), A, grad=False)
add("mesh_index", each(P("x"), P("x"))(lambda a: a * lax.axis_index("x")), A)
add("mesh_indices", each(P("x", "y"), P("x", "y"))(
    lambda a: jnp.sin(a) * (1 + lax.axis_index("x") + 10 * lax.axis_index("y"))), A)


def ring_product(a, b):
    """a @ b with b's rows passed around."""
    part = b.shape[0]

    def round(carry, k):
        total, block = carry
        at = (lax.axis_index("x") + k) % 2 * part
        total = total + lax.dynamic_slice_in_dim(a, at, part, axis=1) @ block
        return (total, lax.ppermute(block, "x", [(1, 0), (0, 1)])), None

    start = lax.pcast(jnp.zeros((a.shape[0], b.shape[1]), a.dtype), ("x",), to="varying")
    return lax.scan(round, (start, b), jnp.arange(2))[0][0]


add("mesh_ring_product", each((P("x"), P("x")), P("x"))(ring_product), A, B)
