// The run-time entry points of tracing and transforms: functions and trees with their types erased.
// Thin, like core.h: the typed headers flatten trees into Leaves, call one of these, and unflatten.
#pragma once

#include <cstdint>
#include <span>

#include "tlaloc/lang/core.h"

namespace tlaloc::core {

/// A tree laid out flat: its leaves in order, each with a path, an element type and axes. Also what
/// the leaves alone don't tell of its structure, so that two trees compare equal only when one can
/// stand for the other. Copies share.
class Leaves {
 public:
  Leaves();
  Leaves(const Leaves& other);
  Leaves(Leaves&& other) noexcept;
  Leaves& operator=(Leaves other) noexcept;
  ~Leaves();

  // ---- building ----
  /// Starts the next argument; its leaves' paths begin with `name`, or "argument 0" and so on.
  void argument(const char* name = nullptr);
  /// The argument begun last was passed to be used up: besides these leaves only the callee's own
  /// parameter holds it, which nobody reads after the call.
  void use_up();
  /// Steps into a field (text in static storage) or an element; `leave` steps out.
  void enter(const char* field);
  void enter(std::int64_t index);
  void leave();
  /// A typed leaf. `axes` is in static storage.
  void add(const Ref& value, DType dtype, AxesSpec axes);
  /// An Array: what is known of its type is what its value says.
  void add(const Ref& value);
  /// Structure that is no leaf: the length of a vector, whether an optional is set, a number that
  /// is part of the program.
  void note(std::int64_t structure);

  // ---- reading ----
  int size() const;
  const Ref& operator[](int i) const;
  /// Leaves of argument k: [first, last).
  int argument_begin(int k) const;
  int argument_end(int k) const;

  /// Something typed that goes with the leaves, such as a prototype of the tree they came from:
  /// what a traced function keeps in its results is found in the results of each later call.
  void keep(void* payload, void (*destroy)(void*));
  void* kept() const;

  struct Data;
  const Data& data() const { return *data_; }
  Data& mutable_data();

 private:
  Data* data_;
};

/// A callable on leaves. `call` builds the result's leaves from parameters that have the structure
/// of the arguments. Borrowed: it must live as long as the function it is passed to runs.
struct Function {
  void (*call)(void* self, const Leaves& in, Leaves& out) = nullptr;
  void* self = nullptr;
  const void* type = nullptr;  ///< identity of the C++ types of callable and arguments
  const char* name = "f";
};

// ---- derivatives. Integers and booleans carry no tangent: their gradients are zeros. ----

/// Results: the leaves of f's result, then the gradients of result leaf 0 with respect to the
/// leaves of the arguments `argnums`, in that order. UserError TL-GRAD-001 unless leaf 0 is a
/// floating scalar.
Leaves value_and_grad(const Function& f, const Leaves& args, std::span<const int> argnums,
                      Where where);
/// Results: the leaves of f's result, then their tangents. `tangents` has the structure of `args`;
/// a tangent without a value is zero.
Leaves jvp(const Function& f, const Leaves& args, const Leaves& tangents, Where where);

/// A linear map that vjp or linearize made, with what it needs of the point where it was made.
class LinearMap {
 public:
  LinearMap() = default;
  LinearMap(const LinearMap& other);
  LinearMap(LinearMap&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  LinearMap& operator=(LinearMap other) noexcept;
  ~LinearMap();
  /// A pullback takes cotangents of f's result leaves, a linearized function tangents of its
  /// argument leaves; one without a value is zero. Usable any number of times, concretely and in
  /// traces.
  Leaves operator()(const Leaves& in, Where where) const;

  struct Data;
  explicit LinearMap(Data* adopted) : data_(adopted) {}
  const Data* data() const { return data_; }

 private:
  Data* data_ = nullptr;
};
/// Results: the leaves of f's result. The pullback's results are as those of value_and_grad.
Leaves vjp(const Function& f, const Leaves& args, std::span<const int> argnums, LinearMap& pullback,
           Where where);
Leaves linearize(const Function& f, const Leaves& args, LinearMap& tangent_map, Where where);

/// Results: for each result leaf, for each leaf of the arguments: [result..., argument...].
Leaves jacfwd(const Function& f, const Leaves& args, std::span<const int> argnums, Where where);
Leaves jacrev(const Function& f, const Leaves& args, std::span<const int> argnums, Where where);
/// Results: for each pair of leaves of the arguments, second derivatives of a scalar.
Leaves hessian(const Function& f, const Leaves& args, std::span<const int> argnums, Where where);
/// Hessian times `v` (structure of the arguments `argnums`).
Leaves hvp(const Function& f, const Leaves& args, const Leaves& v, std::span<const int> argnums,
           Where where);

/// How derivatives are compared with finite differences.
struct CheckGradsOptions {
  int order = 1;           ///< 2: the derivatives of the derivatives too
  double tolerance = 0;    ///< relative; 0: what the dtype allows
  std::uint64_t seed = 0;  ///< of the random directions
};
/// Compares jvp and vjp of f, along random directions of the arguments `argnums`, with central
/// differences and with each other. UserError TL-GRAD-007 names the leaf and both numbers.
void check_grads(const Function& f, const Leaves& args, std::span<const int> argnums,
                 const CheckGradsOptions& options, Where where);

/// in_axes[i]: the axis of leaf i that is mapped, or -1. Every result gains the mapped axis, named
/// `axis`, in front.
Leaves vmap(const Function& f, const Leaves& args, std::span<const int> in_axes,
            const AxisSpec& axis, Where where);

// ---- compilation ----

/// What one jit object has traced and compiled. Shared by its copies; usable from many threads.
class JitCache {
 public:
  JitCache();
  JitCache(const JitCache& other);
  JitCache(JitCache&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  JitCache& operator=(JitCache other) noexcept;
  ~JitCache();
  /// How often the function was traced.
  std::int64_t traces() const;

  struct Data;
  Data* data() const { return data_; }

 private:
  Data* data_;
};
Leaves jit(JitCache& cache, const Function& f, const Leaves& args, Where where);

/// f with its intermediate values computed again where a derivative needs them. `policy`:
/// "nothing", "everything", "dots" or "names:a,b" says what is kept all the same.
Leaves remat(const Function& f, const Leaves& args, const char* policy, Where where);
/// x, under a name that such a policy can list.
Ref checkpoint_name(const Ref& x, const char* name, AxesSpec axes, Where where);

// ---- derivatives given by the user ----

/// `rule`: arguments x…, dx… -> y…, dy….
Leaves custom_jvp(const Function& f, const Function& rule, const Leaves& args, Where where);
/// `forward`: x… -> y…, residuals…; `backward`: residuals…, ct y… -> ct x….
Leaves custom_vjp(const Function& f, const Function& forward, const Function& backward,
                  const Leaves& args, Where where);

// ---- control flow ----

Leaves cond(const Ref& predicate, const Function& then, const Function& otherwise,
            const Leaves& args, Where where);
/// Branch clamp(index, 0, n - 1).
Leaves switch_case(const Ref& index, std::span<const Function> branches, const Leaves& args,
                   Where where);
/// While `condition`(c…) holds: `body`: c… -> c…, y…. Results: c…, then each y stacked along a new
/// leading axis. More trips than `max_trips` (unless 0) are UserError TL-LOOP-001.
Leaves while_loop(const Function& condition, const Function& body, const Leaves& init,
                  std::int64_t max_trips, Where where);
/// `body`: c…, x… -> c…, y… for each element x of xs along axis 0, from the last on when `reverse`.
/// `length` is needed when there are no xs; -1: not given.
Leaves scan(const Function& body, const Leaves& init, const Leaves& xs, std::int64_t length,
            bool reverse, Where where);
/// `body`: i, c… -> c… for i in [low, high), integer scalars.
Leaves fori_loop(const Ref& low, const Ref& high, const Function& body, const Leaves& init,
                 Where where);

// ---- values in traces ----

/// `x` as a constant of the graphs that read it, at any size; other arrays are bound when they run.
Ref constant(const Ref& x);

/// Prints when the trace at hand runs, at once outside of one. Each {} of the format stands for a
/// value. UserError TL-FORMAT-001.
void debug_print(const char* format, std::span<const Ref> values, Where where);

}  // namespace tlaloc::core
