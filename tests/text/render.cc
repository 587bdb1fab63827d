// usage: text_render < CASES
//
// Each line is a JSON list of a template and its variables; for each comes a JSON object with the
// text and the byte ranges of generation blocks, or with the code of an error.
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <iostream>
#include <string>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"
#include "tlaloc/text/chat_template.h"

int main() {
  using namespace tlaloc;
  std::tm now{};
  now.tm_year = 126;
  now.tm_mon = 10;
  now.tm_mday = 30;
  now.tm_hour = 8;
  now.tm_wday = 1;
  now.tm_yday = 333;
  for (std::string line; std::getline(std::cin, line);) {
    boost::json::object out;
    try {
      const boost::json::array input = parse_json(line, "case").as_array();
      const text::ChatTemplate t(input[0].as_string().c_str(), "template");
      const text::Rendered r = t.render(input[1].as_object(), {}, now);
      out["text"] = r.text;
      boost::json::array generations;
      for (const text::Range g : r.generations) generations.push_back({g.begin, g.end});
      out["generations"] = generations;
    } catch (const Error& e) {
      out["code"] = e.code();
      out["message"] = e.what();
    }
    std::cout << boost::json::serialize(out) << "\n";
  }
  return 0;
}
