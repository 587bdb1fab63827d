#include "tlaloc/text/chat_template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tlaloc/base/error.h"
#include "tlaloc/base/json.h"

namespace tlaloc::text {
namespace {

using testing::HasSubstr;

std::string render(std::string_view source, std::string_view variables = "{}",
                   const RenderLimits& limits = {}) {
  return ChatTemplate(source, "t.jinja")
      .render(parse_json(variables, "variables").as_object(), limits)
      .text;
}

TEST(ChatTemplate, Renders) {
  EXPECT_EQ(render("{% for m in messages %}{{ m.role }}: {{ m['content'] | trim }}\n{% endfor %}",
                   R"({"messages": [{"role": "user", "content": " hi "}]})"),
            "user: hi\n");
}

TEST(ChatTemplate, SaysWhatGenerationBlocksGive) {
  const Rendered r = ChatTemplate("ä{% generation %}ö!{% endgeneration %}", "t").render({});
  ASSERT_EQ(r.generations.size(), 1u);
  EXPECT_EQ(r.generations[0], (Range{2, 5}));
}

struct Case {
  std::string source, code, message;
};

void expect_error(const Case& c, const RenderLimits& limits = {}) {
  try {
    const std::string text = render(c.source, "{}", limits);
    ADD_FAILURE() << c.source << " gives " << text;
  } catch (const UserError& e) {
    EXPECT_EQ(e.code(), c.code) << e.what();
    EXPECT_THAT(e.what(), HasSubstr(c.message)) << c.source.substr(0, 60);
  }
}

TEST(ChatTemplate, ErrorsCarryLineAndColumn) {
  const std::vector<Case> cases{
      {"a\n {{ x + }}", "TL-TEMPLATE-001",
       "t.jinja:2:9: TL-TEMPLATE-001: template: an expression is missing"},
      {"{% include 'x' %}", "TL-TEMPLATE-001",
       "1:4: TL-TEMPLATE-001: template: the tag 'include', which is not supported here"},
      {"{% if x %}", "TL-TEMPLATE-001", "{% endif %} is missing"},
      {"{% break %}", "TL-TEMPLATE-001", "{% break %} outside of a loop"},
      {"\n\n{{ a.b.c }}", "TL-TEMPLATE-002",
       "t.jinja:3:5: TL-TEMPLATE-002: template: 'b' of an undefined value ('a')"},
      {"{{ 1|nosuch }}", "TL-TEMPLATE-002",
       "1:6: TL-TEMPLATE-002: template: there is no filter 'nosuch' here"},
      {"{{ 'a' + 1 }}", "TL-TEMPLATE-002", "string + integer"},
      {"{{ [].append(1) }}", "TL-TEMPLATE-002", "append would change a value"},
      {"{{ 9223372036854775807 + 1 }}", "TL-TEMPLATE-002", "an integer beyond 64 bits"},
      {"\n{{ raise_exception('no system role') }}", "TL-TEMPLATE-004",
       "t.jinja:2:19: TL-TEMPLATE-004: template: no system role"},
  };
  for (const Case& c : cases) expect_error(c);
}

TEST(ChatTemplate, IsBounded) {
  RenderLimits limits;
  limits.steps = 2000;
  limits.output = 10000;
  limits.memory = 1 << 20;
  const std::string loop = "{% for i in range(1000) %}";
  const std::vector<Case> cases{
      {loop + loop + "{% endfor %}{% endfor %}", "TL-TEMPLATE-003", "more than 2000 steps"},
      {loop + "{{ 'xxxxxxxxxxxxxxxxxxxxxxxxxxx' }}{% endfor %}", "TL-TEMPLATE-003",
       "writes more than 10000 bytes"},
      {"{{ 'x' * 1000000000 }}", "TL-TEMPLATE-003", "beyond the limit of memory"},
      {"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "TL-TEMPLATE-003", "nested too deep"},
      {"{{ range(100001) }}", "TL-TEMPLATE-003", "a range of more than 100000 numbers"},
      {"{{ " + std::string(10000, '(') + std::string(10000, ')') + " }}", "TL-TEMPLATE-001",
       "nested too deep"},
      {"{{ " + std::string(10000, '-') + "1 }}", "TL-TEMPLATE-001", "nested too deep"},
  };
  for (const Case& c : cases) expect_error(c, limits);
}

TEST(ChatTemplate, WhatValuesUnfoldToIsBounded) {
  RenderLimits limits;
  limits.steps = 100'000;
  limits.memory = 4 << 20;
  const std::string memory = "beyond the limit of memory", steps = "more than 100000 steps";
  const std::string x = "{% set x = 'x' * 100000 %}";
  // Lists that have the same list twice, 40 deep: small, until each element is looked at.
  const std::string shared =
      "{% set n = namespace(a=[1], b=[1]) %}{% for i in range(40) %}{% set n.a = [n.a, n.a] %}"
      "{% set n.b = [n.b, n.b] %}{% endfor %}";
  std::string sum = "x";
  for (int i = 0; i < 100; ++i) sum += " ~ x";
  const std::vector<Case> cases{
      {x + "{{ (" + sum + ") | length }}", "TL-TEMPLATE-003", memory},
      {x + "{{ ([x] * 1000) | join | length }}", "TL-TEMPLATE-003", memory},
      {x + "{{ ''.join([x] * 1000) | length }}", "TL-TEMPLATE-003", memory},
      {x + "{{ x.replace('x', x) | length }}", "TL-TEMPLATE-003", memory},
      {x + "{{ ([x] * 1000) | string | length }}", "TL-TEMPLATE-003", memory},
      {x + "{{ ([x] * 1000) | tojson | length }}", "TL-TEMPLATE-003", memory},
      {"{{ ('<' * 1000000) | escape | length }}", "TL-TEMPLATE-003", memory},
      {"{{ ('x' * 2000000)[0] }}", "TL-TEMPLATE-003", memory},
      {"{{ ('\n' * 1000000).splitlines() | length }}", "TL-TEMPLATE-003", memory},
      {shared + "{{ n.a == n.b }}", "TL-TEMPLATE-003", steps},
      {shared + "{{ n.a < n.b }}", "TL-TEMPLATE-003", steps},
      {shared + "{{ n.a in [n.b] }}", "TL-TEMPLATE-003", steps},
      {shared + "{{ n.a | string | length }}", "TL-TEMPLATE-003", steps},
      {shared + "{{ n.a | tojson | length }}", "TL-TEMPLATE-003", steps},
      {x + "{% for i in range(9000) %}{% if x == 'x' * 1 ~ x[1:] %}{% endif %}{% endfor %}",
       "TL-TEMPLATE-003", memory},
      {x + "{% for i in range(9000) %}{% if 'y' in x %}{% endif %}{% endfor %}", "TL-TEMPLATE-003",
       steps},
  };
  for (const Case& c : cases) expect_error(c, limits);
  // What characters take is given back.
  EXPECT_EQ(render(x + "{% for i in range(100) %}{{ x[i] }}{% endfor %}", "{}", limits),
            std::string(100, 'x'));
}

}  // namespace
}  // namespace tlaloc::text
