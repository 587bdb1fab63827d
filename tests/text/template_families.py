"""More templates in our own words: each does what those of a family or two do that template_cases.py has not."""

# Mistral's later ones: tools before the last user's message, results by their calls' ids.
MISTRAL_TOOLS = """{%- if messages and messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}{%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace(index=0) %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or message.role == "tool_results" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}{{- "[odd " ~ ns.index ~ "]" }}{%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == user_messages[-1]) %}
            {{- "[AVAILABLE_TOOLS] [" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool.items() if key != "return" %}
                    {%- if val is string %}{{- '"' + key + '": "' + val + '"' }}{%- else %}{{- '"' + key + '": ' + val|tojson }}{%- endif %}
                    {%- if not loop.last %}{{- ", " }}{%- endif %}
                {%- endfor %}
                {{- "}}" }}{%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" }}{%- endif %}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {{- "[INST] " + (message["content"] if message["content"] is string else message["content"][-1]["text"]) + "[/INST]" }}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS] [" }}
        {%- for tool_call in message.tool_calls %}
            {%- set out = tool_call.function|tojson %}{{- out[:-1] }}
            {%- if not tool_call.id is defined or tool_call.id|length != 9 %}{{- ', "odd": ' ~ tool_call.id|length }}{%- endif %}
            {{- ', "id": "' + tool_call.id + '"}' }}{%- if not loop.last %}{{- ", " }}{%- else %}{{- "]" + eos_token }}{%- endif %}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}{{- " " + message["content"]|trim + eos_token }}
    {%- elif message["role"] in ("tool_results", "tool") %}
        {%- set content = message.content.content if message.content is mapping and message.content.content is defined else message.content %}
        {{- '[TOOL_RESULTS] {"content": ' + content|string + ", " }}{{- '"call_id": "' ~ (message.tool_call_id or "none") ~ '"}[/TOOL_RESULTS]' }}
    {%- endif %}
{%- endfor %}"""

# Vicuna and Zephyr: words for roles, the system's text by itself.
PLAIN_WORDS = """{% set names = {'user': 'USER: ', 'assistant': 'ASSISTANT: ', 'system': ''} %}
{%- for m in messages %}{{ names.get(m.role, m.role|title ~ ': ') }}{{ m.content if m.content is string else '' -}}
{{ {'user': ' ', 'assistant': eos_token}[m.role] if m.role in ['user', 'assistant'] else '\\n\\n' }}{% endfor %}
{%- if add_generation_prompt and (messages | last).role | default('user') != 'assistant' %}ASSISTANT:{% endif %}"""

# Falcon, Yi: neighbours in the loop.
NEIGHBOURS = """{%- for m in messages -%}
{{ loop.revindex }}.{{ loop.revindex0 }} {% if loop.previtem is defined and loop.previtem.role == m.role %}again {% endif -%}
<{{ m.role }}>{{ (m.content or '') | string | trim }}
{%- if loop.nextitem is defined %} then {{ loop.nextitem.role }}{% endif %}{% if loop.changed(m.role) %}!{% endif %}
{% endfor -%}"""

# OLMo and EXAONE: the end of text once, at the end of an answer that is the last.
LAST_ENDS = """{{ bos_token }}{% for m in messages %}{% if m['role'] == 'system' %}{{ '[|system|]' + m['content'] + '[|endofturn|]\\n' }}
{%- elif m['role'] == 'assistant' %}{% if not loop.last %}{{ '<|assistant|>\\n' + (m['content'] or '') + eos_token + '\\n' }}{% else %}{{ '<|assistant|>\\n' + (m['content'] or '') + eos_token }}{% endif %}
{%- elif m['role'] is in ['user'] %}{{ '<|user|>\\n' ~ m['content'] ~ '\\n' }}{% endif %}
{%- if loop.last and add_generation_prompt and m['role'] is ne 'assistant' %}{{ '<|assistant|>\\n' }}{% endif %}{% endfor %}"""

# Qwen 2 VL and Llama 3.2 with pictures: counting parts of messages of lists.
PARTS = """{% set image_count = namespace(value=0) %}{% set video_count = namespace(value=0) %}{% for message in messages %}
{%- if loop.first and message['role'] != 'system' %}<|im_start|>system
You are helpful.<|im_end|>
{% endif %}<|im_start|>{{ message['role'] }}
{% if message['content'] is string %}{{ message['content'] }}<|im_end|>
{% elif message['content'] is iterable and message['content'] is not mapping %}{% for content in message['content'] %}
{%- if content['type'] == 'image' or 'image' in content or 'image_url' in content %}{% set image_count.value = image_count.value + 1 %}
{%- if add_vision_id %}Picture {{ image_count.value }}: {% endif %}<|vision_start|><|image_pad|><|vision_end|>
{%- elif content['type'] == 'video' %}{% set video_count.value = video_count.value + 1 %}<|video_pad|>{% elif 'text' in content %}{{ content['text'] }}{% endif %}{% endfor %}<|im_end|>
{% endif %}{% endfor %}{{ messages | map(attribute='content') | select('string') | map('length') | sum }}
{%- set has_images = messages | selectattr('content', 'sequence') | list | length %} {{ has_images > 0 }}"""

# Hermes, Nemotron: several templates' worth of switches, defaults that a caller may give.
SWITCHES = """{%- set thinking = enable_thinking if enable_thinking is defined else true %}
{%- set controls = controls | default({}) %}
{%- set extra = [] %}
{%- for key, value in controls | items %}{% set _ = extra.append(key ~ '=' ~ value) %}{% endfor %}
{%- if extra %}{{ '<|controls|>' + extra | join(';') }}{% endif %}
{%- for tool in tools or [] %}
{{ loop.index0 }}:{{ tool.function.name }}({% for name, p in tool.function.parameters.properties | dictsort %}{{ name }}{% if name in tool.function.parameters.required | default([]) %}*{% endif %}: {{ p.type | default('any', true) }}{{ ', ' if not loop.last }}{% endfor %})
{%- endfor %}
{%- for m in messages | rejectattr('role', 'equalto', 'system') %}
{%- set text -%}{{ m.content if m.content is string else m.content | tojson }}{%- endset %}
<|{{ m.role }}|>{{ text.split('</think>') | last | trim if not thinking else text }}
{%- endfor %}{{ '<think>' if thinking and add_generation_prompt -}}"""

# gpt-oss: types of parameters as TypeScript, by macros that call each other.
TYPES = """{%- macro type_of(p) -%}
{%- if p.type == "array" -%}{%- if p['items'] -%}{%- if p['items']['type'] in ["string", "integer"] -%}{{ p['items']['type'] | replace("integer", "number") }}[]{%- else -%}any[]{%- endif -%}{%- endif -%}
{%- elif p.type is defined and p.type is iterable and p.type is not string and p.type[0] is defined -%}{{ p.type | join(" | ") }}
{%- elif p.oneOf -%}{%- for v in p.oneOf -%}{{ type_of(v) }}{%- if not loop.last %} | {% endif -%}{%- endfor -%}
{%- elif p.enum -%}{{ '"' + p.enum|join('" | "') + '"' }}
{%- else -%}{{ {"string": "string", "integer": "number"}.get(p.type, "any") }}{%- endif -%}
{%- endmacro -%}
{%- macro namespace_of(name, tools) -%}
{{ "namespace " + name + " {\\n" }}{%- for tool in tools -%}{%- set f = tool.function -%}
{{- "// " + f.description + "\\ntype " + f.name + " = (_: {\\n" }}
{%- for n, p in f.parameters.properties.items() -%}{{- n + ("?" if n not in f.parameters.required else "") + ": " + type_of(p) }}{%- if not loop.last -%},{%- endif -%}{{- "\\n" }}{%- endfor -%}
{{- "}) => any;\\n" }}{%- endfor -%}{{- "} // " + name }}
{%- endmacro -%}
{%- if tools -%}{{- namespace_of("functions", tools) }}{%- endif -%}
{%- for m in messages -%}{%- if m.tool_calls -%}{%- for c in m.tool_calls -%}{{ "to=functions." ~ c.function.name ~ ' ' ~ (c.function.arguments if c.function.arguments is string else c.function.arguments | tojson) }}{%- endfor -%}{%- else -%}{{ m.role }}:{{ m.content | tojson }};{%- endif -%}{%- endfor -%}"""

# Jamba, InternLM: joined lists of texts, and refusals with what was wrong.
REFUSALS = """{%- set allowed = ['system', 'user', 'assistant', 'tool'] -%}
{%- for m in messages -%}
{%- if m.role not in allowed -%}{{ raise_exception('role ' ~ m.role ~ ' is none of ' ~ allowed | join('/')) }}{%- endif -%}
{%- if loop.index0 > 0 and m.role == 'system' -%}{{ raise_exception('message ' + loop.index | string + ': the system comes first') }}{%- endif -%}
{%- set texts = m.content | selectattr('type', 'equalto', 'text') | map(attribute='text') | list if m.content is not string and m.content is sequence and m.content is not mapping else [m.content | default('', true) | string] -%}
<|{{ m.role[:1] | upper }}{{ m.role[1:] }}|>{{ texts | join('\\n') | trim }}{{ '\\n' if not loop.last else '' }}
{%- endfor -%}"""

FAMILIES = [MISTRAL_TOOLS, PLAIN_WORDS, NEIGHBOURS, LAST_ENDS, PARTS, SWITCHES, TYPES, REFUSALS]
