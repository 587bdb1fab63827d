"""Templates that do what those of published models do, in our own words, and expressions on their own."""

CHATML = """{% for message in messages %}{% if loop.first and message['role'] != 'system' %}{{ '<|im_start|>system
You are helpful.<|im_end|>
' }}{% endif %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"""

INST = """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if (message["role"] == "user") != (loop.index0 % 2 == 0) %}
        {{- raise_exception("roles must alternate") }}
    {%- endif %}
    {%- if message["role"] == "user" %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST] " + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST] " + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message["role"] == "assistant" %}
        {{- " " + message["content"] | trim + eos_token }}
    {%- endif %}
{%- endfor %}
"""

LLAMA3 = """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not tools_in_user_message is defined %}
    {%- set tools_in_user_message = true %}
{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{%- if not tools is defined %}
    {%- set tools = none %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{{- "Today: " + date_string + "\\n\\n" }}
{%- if tools is not none and not tools_in_user_message %}
    {%- for t in tools %}
        {{- t | tojson(indent=4) }}
        {{- "\\n\\n" }}
    {%- endfor %}
{%- endif %}
{{- system_message }}{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}
            {{- raise_exception("one call at a time") }}
        {%- endif %}
        {%- set tool_call = message.tool_calls[0].function %}
        {{- '{"name": "' + tool_call.name + '", ' }}{{- '"parameters": ' }}{{- tool_call.arguments | tojson }}{{- "}" }}
        {{- "<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {%- if message.content is mapping or message.content is iterable %}{{- message.content | tojson }}
        {%- else %}{{- message.content }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}
"""

QWEN3 = """{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {%- for tool in tools %}
        {{- "\\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- "\\n</tools><|im_end|>\\n" }}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index %}
            {%- if loop.last or (not loop.last and reasoning_content) %}
                {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
            {%- else %}
                {{- '<|im_start|>' + message.role + '\\n' + content }}
            {%- endif %}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {%- if message.tool_calls %}
            {%- for tool_call in message.tool_calls %}
                {%- if (loop.first and content) or (not loop.first) %}{{- '\\n' }}{%- endif %}
                {%- if tool_call.function %}{%- set tool_call = tool_call.function %}{%- endif %}
                {{- '<tool_call>\\n{"name": "' }}{{- tool_call.name }}{{- '", "arguments": ' }}
                {%- if tool_call.arguments is string %}{{- tool_call.arguments }}{%- else %}{{- tool_call.arguments | tojson }}{%- endif %}
                {{- '}\\n</tool_call>' }}
            {%- endfor %}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if loop.first or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\\n<tool_response>\\n' }}{{- content }}{{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|im_end|>\\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}{%- endif %}
{%- endif %}"""

GEMMA = """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set first = messages[0]['content'] + '\n\n' %}{% set messages = messages[1:] %}{% else %}{% set first = '' %}{% endif %}
{% for message in messages %}
{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}
{{ '<start_of_turn>' + role + '\n' + (first if loop.first else '') }}
{%- if message['content'] is string -%}
    {{ message['content'] | trim }}
{%- elif message['content'] is iterable -%}
    {%- for item in message['content'] -%}
        {%- if item['type'] == 'image' -%}<img>{%- elif item['type'] == 'text' -%}{{ item['text'] | trim }}{%- endif -%}
    {%- endfor -%}
{%- else -%}
    {{ raise_exception("no such content") }}
{%- endif -%}
{{ '<end_of_turn>\n' }}
{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"""

MACROS = """{%- macro render_type(spec, depth=0) -%}
    {%- if spec.type == 'array' -%}{{ render_type(spec['items'], depth + 1) }}[]
    {%- elif spec.type == 'object' -%}{ {%- for k, v in spec.properties.items() -%}{{ k }}{{ '?' if k not in (spec.required or []) }}: {{ render_type(v, depth + 1) }}{{ ', ' if not loop.last }}{%- endfor -%} }
    {%- elif spec.enum is defined -%}{{ spec.enum | map('tojson') | join(' | ') }}
    {%- else -%}{{ spec.type | default('any') }}{%- endif -%}
{%- endmacro -%}
{%- macro wrap(tag) %}<{{ tag }}>{{ caller() }}</{{ tag }}>{% endmacro -%}
{%- if tools %}
{% call wrap('tools') %}
{%- for tool in tools -%}
type {{ tool.function.name }} = ({{ render_type(tool.function.parameters) }}) => any; // {{ tool.function.description | default('', true) }}
{% endfor -%}
{% endcall %}
{%- endif %}
{%- for m in messages if m.role != 'system' recursive %}
{{ loop.index }}/{{ loop.length }} {{ loop.cycle('a', 'b') }} {{ m.role | upper }}: {{ m.content | string | replace('\\n', ' ') | truncate if false else m.content | string | length }}
{%- else %}
nothing
{%- endfor %}"""

BLOCKS = """{% set text %}  a block {{ 1 + 1 }}
{% endset %}[{{ text | trim }}]
{% filter upper %}shout {{ bos_token }}{% endfilter %}
{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}
{# a comment #}
{%- raw %} {{ not this }} {% endraw %}
{% for i in range(10) %}{% if i == 2 %}{% continue %}{% endif %}{% if i > 4 %}{% break %}{% endif %}{{ i }},{% endfor %}
    {% if true %}
  indented
    {% endif %}
	{%+ if true %}kept{% endif +%}
end {%- if false %} x {% elif 1 %} y {% else %} z {% endif -%}   stop
{% for k, v in {'b': 1, 'a': [1, 2.5, none]}|dictsort %}{{ k }}={{ v }};{% endfor %}
{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }} {% endfor %}{{ x }}
{% set a, b = (1, 'two') %}{{ a }}{{ b }}
"""

GENERATION = """{% for m in messages %}{% if m.role == 'assistant' %}{% generation %}{{ m.content | string }}<|end|>{% endgeneration %}{% else %}<|{{ m.role }}|>{{ m.content | string }}
{% endif %}{% endfor %}"""

DEEPSEEK = """{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}{% set ns = namespace(is_first=false, is_tool=false, system_prompt='', is_first_sp=true) %}{%- for message in messages %}{%- if message['role'] == 'system' %}{%- if ns.is_first_sp %}{% set ns.system_prompt = ns.system_prompt + message['content'] %}{% set ns.is_first_sp = false %}{%- else %}{% set ns.system_prompt = ns.system_prompt + '\n\n' + message['content'] %}{%- endif %}{%- endif %}{%- endfor %}{{ bos_token }}{{ ns.system_prompt }}{%- for message in messages %}{%- if message['role'] == 'user' %}{%- set ns.is_tool = false -%}{{ '<User>' + message['content'] }}{%- endif %}{%- if message['role'] == 'assistant' and 'tool_calls' in message %}{%- for tool in message['tool_calls'] %}{{ '<call>' + tool['type'] + '<sep>' + tool['function']['name'] }}{%- endfor %}{%- endif %}{%- if message['role'] == 'assistant' and message['content'] is string %}{% set content = message['content'] %}{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}{{ '<Assistant>' + content + eos_token }}{%- endif %}{%- endfor -%}{% if add_generation_prompt and not ns.is_tool %}{{ '<Assistant><think>\n' }}{% endif %}"""

GRANITE = """{%- if tools and documents %}{%- set system_message = 'both' %}{%- elif tools %}{%- set system_message = 'tools' %}{%- else %}{%- set system_message = "plain" %}{%- endif %}
{{- '<|start_of_role|>system<|end_of_role|>' + system_message + '<|end_of_text|>\n' }}
{%- for document in documents | default([]) %}
    {{- 'Document ' + loop.index | string + '\n' + document['title'] ~ ': ' ~ document['text'] }}{%- if not loop.last %}{{- '\n\n' }}{%- endif %}
{%- endfor %}
{%- for m in messages %}{{- '<|start_of_role|>' + m['role'] + '<|end_of_role|>' + (m['content'] if m['content'] is string else m['content'] | tojson) + '<|end_of_text|>\n' }}{%- if loop.last and add_generation_prompt %}{{- '<|start_of_role|>assistant' }}{%- if controls %}{{- ' ' + controls | tojson() }}{%- endif %}{{- '<|end_of_role|>' }}{%- endif %}{%- endfor %}"""

PHI = """{% for m in messages %}{% if m['role'] == 'system' and m['content'] %}{{'<|system|>\n' + m['content'] + '<|end|>\n'}}{% elif m['role'] in ['user', 'assistant'] %}{{'<|' ~ m.role ~ '|>\n' ~ (m.content if m.content is not mapping else '') ~ '<|end|>\n'}}{% endif %}{% endfor %}{{ '<|assistant|>\n' if add_generation_prompt else eos_token }}"""

SMOLLM3 = """{%- set reasoning_mode = '/think' -%}
{%- if messages[0].role == "system" -%}
  {%- set custom = messages[0].content | string -%}
  {%- if "/no_think" in custom -%}{%- set reasoning_mode = "/no_think" -%}{%- endif -%}
  {%- set custom = custom.replace("/no_think", "").replace("/think", "").rstrip() -%}
{%- endif -%}
{{- "<|im_start|>system\\n## Metadata\\n\\n" -}}
{%- set today = strftime_now("%d %B %Y") -%}
{{- "Date: " ~ today ~ "\\n" -}}{{- "Mode: " + reasoning_mode + "\\n\\n" -}}
{%- if custom -%}{{- custom + "\\n\\n" -}}{%- endif -%}
{%- if xml_tools or python_tools or tools -%}
  {%- set ns = namespace(xml="## Tools\\n") -%}
  {%- for tool in tools or xml_tools[:] -%}{%- set ns.xml = ns.xml ~ (tool | string) ~ "\\n" -%}{%- endfor -%}
  {{- ns.xml + "</tools>" -}}
{%- endif -%}
{%- for message in messages -%}
  {%- set content = message.content if message.content is string else "" -%}
  {%- if message.role == "user" -%}{{ "<|im_start|>" + message.role + "\\n" + content + "<|im_end|>\\n" }}
  {%- elif message.role == "assistant" -%}{% generation %}{{ "<|im_start|>assistant\\n" + content.lstrip("\\n") + "<|im_end|>\\n" }}{% endgeneration %}
  {%- endif -%}
{%- endfor -%}"""

COHERE = """{% macro document_turn(documents) -%}
<|START|>[{% for d in documents %}{"id": "{{ loop.index0 }}", "results": {{ d | tojson }}}{% if not loop.last %},{% endif %}{% endfor %}]<|END|>
{%- endmacro %}
{%- macro tool_call_id_to_int(messages, tool_call_id) %}
{%- set counter = namespace(value=0) %}{%- set found = namespace(value=false) %}
{%- for msg in messages %}{%- if msg.tool_calls %}{%- for tc in msg.tool_calls %}{%- if tc.id == tool_call_id and not found.value %}{{ counter.value }}{%- set found.value = true %}{%- endif %}{%- set counter.value = counter.value + 1 %}{%- endfor %}{%- endif %}{%- endfor %}
{%- endmacro %}
{{ document_turn(documents or []) }}{{ tool_call_id_to_int(messages, 'call_2') }}|{{ tool_call_id_to_int(tool_call_id='nope', messages=messages) | trim }}
{%- set roles = messages | map(attribute='role') | unique | list %}{{ roles }} {{ messages | selectattr('role', 'equalto', 'user') | list | length }} {{ messages | rejectattr('tool_calls', 'defined') | map(attribute='role') | join(',') }}"""

TEMPLATES = [CHATML, INST, LLAMA3, QWEN3, GEMMA, MACROS, BLOCKS, GENERATION, DEEPSEEK, GRANITE, PHI, SMOLLM3, COHERE]

TOOLS = [{"type": "function", "function": {
    "name": "get_weather", "description": "It's \"fine\" <b> é 中 \u2028", "parameters": {
        "type": "object", "required": ["city"], "properties": {
            "city": {"type": "string"}, "days": {"type": "array", "items": {"type": "integer"}},
            "unit": {"enum": ["C", "F"]}, "any": {}}}}}]
CALL = {"id": "call_2", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Zürich", "n": 1.5}}}

CHATS = [
    [{"role": "user", "content": "Hello"}],
    [{"role": "system", "content": " Be brief. /no_think "}, {"role": "user", "content": "Hi\nthere"},
     {"role": "assistant", "content": "<think>\nhm\n</think>\n\n Hello! "}, {"role": "user", "content": "Übung 中文 😀"}],
    [{"role": "user", "content": "Weather?"}, {"role": "assistant", "content": None, "tool_calls": [CALL]},
     {"role": "tool", "content": "sunny"}, {"role": "tool", "content": "22"},
     {"role": "assistant", "content": "It is sunny.", "reasoning_content": "easy"}],
    [{"role": "user", "content": "Weather?"}, {"role": "assistant", "content": "", "tool_calls": [CALL, dict(CALL, id="b")]},
     {"role": "tool", "content": {"a": [1, None, True, 1e-7, 1e22]}}],
    [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": " look "}]}],
    [{"role": "system", "content": "a"}, {"role": "system", "content": "b"}, {"role": "assistant", "content": "c"}],
    [],
]

VARIABLES = [
    {"add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>"},
    {"add_generation_prompt": False, "bos_token": "<s>", "eos_token": "</s>", "tools": TOOLS, "tools_in_user_message": False,
     "documents": [{"title": "T", "text": "x"}, {"title": "U", "text": "y"}], "enable_thinking": False,
     "controls": {"length": "long"}},
]

# With x = 3, s = "Hello World", l = [3, 1, 2], d = {...}, t = "  a b\n"; undefined: u.
EXPRESSIONS = """
1 + 2 * 3 - 4 / 2 | 7 // 2 ~ -7 // 2 ~ 7 % 3 ~ -7 % 3 | 2 ** 10 | 2 ** -1 | -2 ** 2 | 7.5 // 2 | -7.5 % 2 | 1 / 3 | 1e16 | 1e15 | 123456789.125 | 1e-5 | 0.0001 | -0.0 | 1_000
'a' 'b' ~ 1 ~ none ~ true ~ 1.0 | "a\\tb\\u00e9\\x41" | 'a' * 3 | 3 * [1] | [1] + [2] | (1, 2) + (3,) | () | (1,) | {'a': 1, 'a': 2} | {1: 'x', none: 2.0} | [1, 'two', none, true, 1.5, "it's", 'q"\\'']
x if x > 2 else 'no' | x if false | (x if false) is defined | 1 < 2 < 3 | 1 < 3 < 2 | x == 3.0 | true == 1 | 'a' < 'b' | [1, 2] < [1, 3] | 1 == '1' | none == none | u == u2
x in l | 4 not in l | 'World' in s | 'a' in d | 'zz' in d | 1 in u | not x | not u | x and s | 0 or 'b' | u or 'c' | u and 1
s[0] | s[-1] | s[1:4] | s[::-1] | s[:-3] | s[100] | l[0] | l[-1] | l[1:] | l[::2] | l[::-1] | l[5:1:-2] | l[9] | d['a'] | d.a | d['nope'] | d.nope | l.0 | d.n.m | d['n']['m'] | s.nope | none.x | x.y
s|upper ~ s|lower ~ s|title ~ s|capitalize | t|trim | s|length | l|length | d|length | u|length | s|first ~ s|last | l|first | l|last | []|first | l|sort | l|sort(reverse=true) | ['b', 'A', 'c']|sort | ['b', 'A']|sort(case_sensitive=true)
l|join(', ') | u|join | d|join | l|sum | l|max | l|min | []|max | l|reverse|list | s|reverse | l|list | s|list | d|list | d.items()|list | d.keys()|list | d.values()|list | d|items|list | d|dictsort | d|dictsort(by='value') if false
u|default('x') | ''|default('x') | ''|default('x', true) | none|default('x') | none|d('y', boolean=true) | x|string | '42'|int | '4.7'|int | 'x'|int | 'x'|int(5) | '0x1A'|int(base=16) if false | ' 7 '|int | 3.9|int | -3.9|int | true|int | '1.5'|float | 'x'|float | 'x'|float(2.5) | 3|float
2.5|round | 3.5|round | 2.675|round(2) | 1234.5|round(-2) | 42|round | 2.1|round(0, 'ceil') | 2.9|round(method='floor') | -5|abs | 2.5|abs | 1|abs
d|tojson | l|tojson | s|tojson | d|tojson(indent=2) | d|tojson(separators=(',', ':')) | d|tojson(sort_keys=true) | none|tojson | 1.0|tojson | [[], {}, ()]|tojson(indent=1) | "é<>&'\\"\\\\\\n\\x7f\\u2028"|tojson | u|tojson | {1: 2, true: 3}|tojson
[1, 2, 2, 1]|unique|list | ['a', 'A']|unique|list | [1, 2, 3]|select('odd')|list | [0, 1, '']|select|list | [1, 2]|reject('even')|list | [{'a': 1}, {'a': 2}, {}]|selectattr('a')|list | [{'a': 1}, {'a': 2}]|selectattr('a', '>', 1)|list | [{'a': 1}, {'b': 2}]|rejectattr('a', 'defined')|list
[{'a': {'b': 1}}]|map(attribute='a.b')|list | [{'a': 1}, {}]|map(attribute='a', default=0)|list | ['x', 'y']|map('upper')|list | [' a ', 'b ']|map('trim')|join('-') | [1.5, 2]|map('int')|list | l|map('string')|join
s.split() | s.split('o') | 'a,b,c'.split(',', 1) | 'a,b,c'.rsplit(',', 1) | ' a  b '.split() | ' a  b  c '.split(none, 1) | ' a  b  c '.rsplit(none, 1) | ''.split() | ''.split(',') | 'abc'.split('') | 'a\\nb\\r\\nc'.splitlines() | 'a\\n'.splitlines(true)
s.strip('Hd') | t.strip() | t.lstrip() ~ '|' | t.rstrip() ~ '|' | 'xxaxx'.strip('x') | s.startswith('He') | s.endswith(('x', 'ld')) | s.replace('l', 'L') | s.replace('l', 'L', 1) | 'aaa'.replace('', '-') | s.find('o') | s.rfind('o') | s.find('zz') | s.index('zz') | s.count('l') | s.upper() | s.title() | s.lower() | 'éa'.capitalize() | s.join(['a', 'b'])
s.isdigit() | '12'.isdigit() | ''.isalpha() | 'ab'.isalpha() | 'a1'.isalnum() | '  '.isspace() | 'x=y=z'.partition('=') | 'x=y=z'.rpartition('=') | 'abc'.partition('-') | 'prefix-a'.removeprefix('prefix-') | 'a.txt'.removesuffix('.txt') | 'ΑΣ'.lower() | 'straße'.upper() | 'they\\'re bill\\'s'.title()
d.get('a') | d.get('q') | d.get('q', 5) | d.update({'a': 2}) | l.append(1) | l.index(2) | l.count(3) | l.pop() | range(3)|list | range(1, 10, 3)|list | range(3, 0, -1)|list | range(0, 1, 0) | range(200000)|list | namespace(a=1).a | dict(a=1, b='x') | dict({'a': 1}, b=2)
x is defined | u is defined | u is undefined | x is number | s is string | l is sequence | s is sequence | d is mapping | l is iterable | x is iterable | none is none | x is odd | x is even | x is divisibleby 3 | x is divisibleby(2) | true is boolean | 1 is boolean | 1 is integer | true is integer | 1.0 is float | x is eq 3 | x is ne(3) | x is gt 2 | x is in l | 'a' is in 'abc' | s is lower | 'abc' is lower | 'ABC' is upper | d.items is callable | x is sameas 3 | x is not none | true is true | 1 is true | x is nosuch
u.a | u['a'] | u() | u + 1 | 1 + u | u ~ 'a' | -u | u < 1 | s + 1 | 1 + s | none + 1 | [] + () | s - 1 | s % 1 if false | 1 / 0 | 1 % 0 | s * -1 | x(1) | s() | l|nosuch | s|indent | 'a\\nb\\n\\nc'|indent | 'a\\nb'|indent(2, true) | 'a\\n\\nb'|indent(2, blank=true) | 'a\\nb'|indent('> ') | '<a href="x">\\'&'|escape | '<'|e | s|safe
s|replace('o', '0') | s|replace('o', '0', 1) | s|trim('Hd') | s|string|length | [1, [2, [3]]] | {'a': {'b': [1, {'c': none}]}} | (1, 'a', [2])|string | l|string | '%s' | 'a\\\\b' | "\\n"|length | '日本'|length | '日本'[1] | '日本'|reverse | [true, false, none]|join(',') | 9223372036854775807 | [3, 'a']|sort | {'b': 1}|sum | ['a']|sum | s|sum
loop | raise_exception('no') | strftime_now('%Y-%m-%d %H') | [1, 2, 3][1:][0] | (l|first) + 1 | l|first + 1 | -x|abs | not x in l | x == 3 and s == 'Hello World' or false | 'a' if u else 'b' if x else 'c' | [1, 2,] | {'a': 1,} | ((1)) | ((1, 2), 3)
"""

SYNTAX = ["{{", "{{ 1 +", "{% if %}", "{% if x %}", "{% endif %}", "{% for x y %}{% endfor %}", "{{ x | }}", "{{ 'a }}", "{# open",
          "{{ x. }}", "{{ [1 }}", "{% set 1 = 2 %}", "{% nosuch %}", "{{ 1 }", "{% break %}", "{{ (1 }}", "{% for x in %}{% endfor %}",
          "{% macro %}{% endmacro %}", "{{ x is }}", "{% else %}", "{{ f(a=1, 2) }}", "{% set x %}", "{{ 'a' 1 }}", "{% set none = 1 %}", "a\n{{ ] }}",
          "{{ x is divisibleby 3 is odd }}", "{%- -%}"]
