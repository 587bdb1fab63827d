#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <cctype>
#include <iostream>
#include <map>
#include <tuple>

#include "tools/tlaloc/commands.h"
#include "tools/tlaloc/model_summary.h"
#include "tools/tlaloc/report_text.h"
#include "tools/tlaloc/terminal_text.h"

namespace tlaloc::command {
namespace {

namespace json = boost::json;

/// On one line.
std::string shortened(const json::value& v) {
  constexpr std::size_t kWidth = 72;
  std::string s = plain(json::serialize(v));
  if (s.size() <= kWidth) return s;
  std::size_t end = kWidth - 3;
  while (end > 0 && (static_cast<unsigned char>(s[end]) & 0xc0) == 0x80) --end;
  return s.substr(0, end) + "...";
}

struct Total {
  std::int64_t tensors = 0, bytes = 0;
};
std::map<io::Storage, Total> storages(const io::TensorFile& file) {
  std::map<io::Storage, Total> totals;
  for (const io::Tensor& t : file.tensors()) {
    ++totals[t.storage].tensors;
    totals[t.storage].bytes += static_cast<std::int64_t>(t.bytes.size());
  }
  return totals;
}

/// The name with its first number as "*": that of the layer.
std::string pattern(const std::string& name) {
  for (std::size_t begin = 0; begin < name.size();) {
    std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string part = name.substr(begin, end - begin);
    if (!part.empty() && std::all_of(part.begin(), part.end(),
                                     [](unsigned char c) { return std::isdigit(c) != 0; })) {
      return name.substr(0, begin) + "*" + name.substr(end);
    }
    begin = end + 1;
  }
  return name;
}

/// Lines of tensors; those of layers that are alike are one.
void print_tensors(const io::TensorFile& file, bool all) {
  struct Row {
    std::string name, type;
    Total total;
  };
  std::vector<Row> rows;
  std::map<std::pair<std::string, std::string>, std::size_t> index;
  for (const io::Tensor& t : file.tensors()) {
    const std::string type = std::string(io::name(t.storage)) + to_string(t.shape);
    const std::string name = plain(all ? t.name : pattern(t.name));
    const auto [it, added] = index.emplace(std::pair(name, type), rows.size());
    if (added) rows.push_back({name, type, {}});
    ++rows[it->second].total.tensors;
    rows[it->second].total.bytes += static_cast<std::int64_t>(t.bytes.size());
  }
  std::size_t width = 0, type_width = 0;
  for (const Row& r : rows) {
    width = std::max(width, r.name.size());
    type_width = std::max(type_width, r.type.size());
  }
  for (const Row& r : rows) {
    fmt::print(std::cout, "  {:<{}}  {:<{}}  {:>9}", r.name, width, r.type, type_width,
               bytes_text(r.total.bytes));
    if (r.total.tensors > 1) fmt::print(std::cout, "  in {} tensors", r.total.tensors);
    fmt::print(std::cout, "\n");
  }
}

void print_text(const ModelSummary& m, bool all_tensors) {
  print_line("format", m.format);
  if (!m.architecture.empty()) print_line("architecture", plain(m.architecture));
  print_line("parameters", count_text(m.tensors.elements()));
  std::string stored;
  for (const auto& [storage, total] : storages(m.tensors)) {
    stored +=
        fmt::format("{}{} {} in {} {}", stored.empty() ? "" : ", ", bytes_text(total.bytes),
                    io::name(storage), total.tensors, total.tensors == 1 ? "tensor" : "tensors");
  }
  print_line("weights", bytes_text(m.tensors.bytes()) + (stored.empty() ? "" : ": ") + stored);
  for (const auto& [title, object] :
       {std::pair("sizes", &m.sizes), std::pair("tokenizer", &m.tokenizer)}) {
    std::string text;
    for (const auto& [key, value] : *object) {
      text += (text.empty() ? "" : ", ") + std::string(key) + " " +
              (value.is_string() ? plain(std::string_view(value.get_string())) : shortened(value));
    }
    if (!text.empty()) print_line(title, text);
  }
  if (!m.chat_template.empty()) {
    print_line("chat template", fmt::format("{} bytes", m.chat_template.size()));
  }
  if (!m.family.empty()) {
    print_line("runs as", fmt::format("{}: up to {} tokens of context, {} for each", m.family,
                                      m.context, bytes_text(m.token_bytes)));
    print_line("memory",
               fmt::format("{} of weights, up to as much again where products have them packed, "
                           "{} for a full context",
                           bytes_text(m.tensors.bytes()), bytes_text(m.context_bytes)));
  }
  if (!m.refusal.empty()) print_line("does not run", plain(m.refusal));
  for (const std::string& fault : m.faults) print_line("fault", plain(fault));
  if (!m.metadata.empty()) fmt::print(std::cout, "metadata\n");
  for (const auto& [key, value] : m.metadata) {
    fmt::print(std::cout, "  {} = {}\n", plain(std::string_view(key)), shortened(value));
  }
  fmt::print(std::cout, "tensors\n");
  print_tensors(m.tensors, all_tensors);
}

void print_json(const ModelSummary& m, const std::string& path) {
  json::array tensors;
  for (const io::Tensor& t : m.tensors.tensors()) {
    tensors.push_back(json::object{{"name", t.name},
                                   {"storage", io::name(t.storage)},
                                   {"shape", json::array(t.shape.begin(), t.shape.end())},
                                   {"bytes", t.bytes.size()}});
  }
  json::object storage;
  for (const auto& [s, total] : storages(m.tensors)) {
    storage[io::name(s)] = {{"tensors", total.tensors}, {"bytes", total.bytes}};
  }
  std::cout << json::object{{"path", path},
                            {"format", m.format},
                            {"architecture", m.architecture},
                            {"parameters", m.tensors.elements()},
                            {"bytes", m.tensors.bytes()},
                            {"storage", storage},
                            {"sizes", m.sizes},
                            {"tokenizer", m.tokenizer},
                            {"chat_template", m.chat_template},
                            {"family", m.family},
                            {"context", m.context},
                            {"token_bytes", m.token_bytes},
                            {"context_bytes", m.context_bytes},
                            {"refusal", m.refusal},
                            {"faults", json::array(m.faults.begin(), m.faults.end())},
                            {"metadata", m.metadata},
                            {"tensors", tensors}}
            << "\n";
}

}  // namespace

void inspect_model(const InspectArguments& a) {
  const ModelSummary m = summarize_model(a.module);
  if (a.json) {
    print_json(m, a.module);
  } else {
    print_text(m, a.tensors);
  }
}

}  // namespace tlaloc::command
