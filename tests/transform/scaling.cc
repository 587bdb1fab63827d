#include "tests/transform/scaling.h"

#include <pthread.h>
#include <time.h>

#include <exception>

#include "tlaloc/base/error.h"
#include "tlaloc/interp/interp.h"
#include "tlaloc/ir/verify.h"
#include "tlaloc/transform/api.h"

namespace tlaloc::testing {
namespace {

/// Processor time of this thread, so that other work on the machine does not count.
template <class F>
double nanoseconds(const F& f) {
  auto now = [] {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
  };
  const double start = now();
  f();
  return now() - start;
}
extern "C" void* call(void* f) {
  (*static_cast<const std::function<void()>*>(f))();
  return nullptr;
}

}  // namespace

Val chain(Val first, std::int64_t length) {
  Val x = first;
  for (std::int64_t i = 0; i < length; ++i) {
    switch (i % 4) {
      case 0:
        x = ops::sin(x);
        break;
      case 1:
        x = x * first;
        break;
      case 2:
        x = x + first;
        break;
      default:
        x = ops::tanh(x);
        break;
    }
  }
  return x;
}
GraphRef chain(std::int64_t length) {
  return graph_of({f64()}, [&](const Vals& p) { return Vals{chain(p[0], length)}; });
}

ChainCost measure_chain(std::int64_t length) {
  ChainCost c{.length = length};
  const double n = static_cast<double>(length);
  GraphRef g, d;
  c.trace = nanoseconds([&] { g = chain(length); }) / n;
  c.grad = nanoseconds([&] { d = transform::value_and_grad(g, {true}); }) / n;
  c.grad_nodes = static_cast<std::int64_t>(d->node_count());
  std::size_t letters = 0;
  c.print = nanoseconds([&] { letters = d->to_string().size(); }) / n;
  c.verify = nanoseconds([&] { ir::verify(*d); }) / n;
  internal_check(letters > d->node_count(), "the text is too short");
  const HostArray x = HostArray::scalar(0.7);
  std::vector<HostArray> r;
  c.run = nanoseconds([&] { r = interp::run(*g, {x}); }) / n;
  c.run_grad = nanoseconds([&] { r = interp::run(*d, {x}); }) / n;
  c.value = r[0].as<double>()[0];
  c.slope = r[1].as<double>()[0];
  return c;
}

void with_stack(std::size_t bytes, const std::function<void()>& f) {
  std::exception_ptr error;
  const std::function<void()> guarded = [&] {
    try {
      f();
    } catch (...) {
      error = std::current_exception();
    }
  };
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread;
  const int failed =
      pthread_create(&thread, &attributes, call, const_cast<std::function<void()>*>(&guarded));
  pthread_attr_destroy(&attributes);
  if (failed)
    throw EnvironmentError({"TL-MEM-001", "with_stack", "could not start a thread", "", {}});
  pthread_join(thread, nullptr);
  if (error) std::rethrow_exception(error);
}

}  // namespace tlaloc::testing
