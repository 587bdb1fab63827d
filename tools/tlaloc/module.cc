#include "tools/tlaloc/module.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "tlaloc/base/error.h"
#include "tlaloc/ir/parse.h"
#include "tlaloc/ir/verify.h"
#include "tlaloc/ops/rows.h"

namespace tlaloc::command {

ir::GraphRef read_module(const std::string& path) {
  std::ifstream file;
  errno = 0;
  if (path != "-") file.open(path);
  std::istream& in = path == "-" ? std::cin : file;
  std::string text;
  try {
    if (in) text.assign(std::istreambuf_iterator<char>(in), {});
  } catch (const std::ios_base::failure&) {  // of reading a folder
    in.setstate(std::ios_base::badbit);
  }
  if (!in) {
    const std::string reason = errno ? std::string(": ") + std::strerror(errno) : "";
    throw EnvironmentError({"TL-FILE-001",
                            "tlaloc",
                            "can't read " + path + reason,
                            "check the path and its permissions",
                            {}});
  }
  const std::string name = path == "-" ? "<stdin>" : path;
  ir::GraphRef g = ir::parse_graph(text, &ops::find, name);
  try {
    ir::verify(*g);
  } catch (const InternalError& e) {  // elsewhere a wrong graph is a defect; this one was written
    throw UserError({"TL-TEXT-002",
                     "tlaloc",
                     name + " is no well-formed module: " + e.info().message,
                     "correct the operation that it names",
                     {}});
  }
  return g;
}

runtime::DimValues read_dims(const ir::Graph& g, const std::vector<std::string>& texts) {
  auto refuse = [&](const std::string& message) {
    std::string names;
    for (ir::Symbol s : g.dims()) names += (names.empty() ? "" : ", ") + s.name();
    throw UserError({"TL-SHAPE-004",
                     "tlaloc",
                     message,
                     names.empty() ? "the module takes no sizes"
                                   : "give sizes such as n=128; the module takes " + names,
                     {}});
  };
  runtime::DimValues values;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    std::int64_t size = -1;
    const char* end = text.data() + text.size();
    if (equals != std::string::npos) {
      const auto r = std::from_chars(text.data() + equals + 1, end, size);
      if (r.ec != std::errc() || r.ptr != end) size = -1;
    }
    if (size < 0) refuse("'" + text + "' is no size");
    bool found = false;
    for (ir::Symbol s : g.dims()) {
      if (s.name() != text.substr(0, equals)) continue;
      if (!values.emplace(s.id(), size).second)
        refuse("the size '" + s.name() + "' is given twice");
      found = true;
    }
    if (!found) refuse("there is no size '" + text.substr(0, equals) + "'");
  }
  return values;
}

}  // namespace tlaloc::command
