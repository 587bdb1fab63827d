// A library that is no plugin, or one of a version that nobody speaks any more.
#ifdef TLALOC_OLD_PLUGIN
#include "tlaloc/pjrt/c_api.h"

extern "C" __attribute__((visibility("default"))) const tlaloc::plugins::c::Api* GetPjrtApi() {
  using namespace tlaloc::plugins::c;  // NOLINT: this file is about them
  static const Api api{sizeof(Api), nullptr, {sizeof(Version), nullptr, 0, 40}, {nullptr}};
  return &api;
}
#else
extern "C" int answer() { return 42; }
#endif
