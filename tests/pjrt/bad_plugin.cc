// A library that is no plugin, one of a version that nobody speaks any more, or one whose table of
// functions is empty but for what tells of errors.
#if defined(TLALOC_OLD_PLUGIN) || defined(TLALOC_EMPTY_PLUGIN)
#include "tlaloc/pjrt/c_api.h"

extern "C" __attribute__((visibility("default"))) const tlaloc::plugins::c::Api* GetPjrtApi() {
  using namespace tlaloc::plugins::c;  // NOLINT: this file is about them
#ifdef TLALOC_OLD_PLUGIN
  static const Api api{sizeof(Api), nullptr, {sizeof(Version), nullptr, 0, 40}, {nullptr}};
  return &api;
#else
  static auto* const nothing = +[](void*) -> Error* { return nullptr; };
  struct Table {
    Api api;
    void* more[127];
  };
  static const Table table = [] {
    Table t{};
    t.api.struct_size = sizeof(Table);
    t.api.version = {sizeof(Version), nullptr, 0, 90};
    t.api.functions[0] = reinterpret_cast<void*>(nothing);
    t.more[0] = t.more[1] = reinterpret_cast<void*>(nothing);
    return t;
  }();
  return &table.api;
#endif
}
#else
extern "C" int answer() { return 42; }
#endif
