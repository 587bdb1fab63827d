#include "tlaloc/runtime/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>
#include <string_view>

namespace tlaloc::runtime {
namespace {

using fmt::format;

/// A number with a unit: three digits that count.
std::string scaled(double x, double base, const std::array<const char*, 5>& units) {
  std::size_t k = 0;
  while (std::abs(x) >= (base == 1024 ? 1023.5 : 999.5) && k + 1 < units.size()) {
    x /= base;
    ++k;
  }
  if (k == 0) return format("{:.0f}{}", x, units[0]);
  return format("{:.{}f}{}", x, std::abs(x) < 9.995 ? 2 : std::abs(x) < 99.95 ? 1 : 0, units[k]);
}
std::string bytes_text(double b) { return scaled(b, 1024, {" B", " KiB", " MiB", " GiB", " TiB"}); }
std::string bytes_text(std::optional<std::int64_t> b) {
  return b ? bytes_text(static_cast<double>(*b)) : "?";
}
std::string count_text(double n) { return scaled(n, 1000, {"", " k", " M", " G", " T"}); }
std::string time_text(double s) {
  return s >= 1 ? format("{:.2f} s", s) : scaled(s * 1e9, 1000, {" ns", " us", " ms", " s", " s"});
}

/// Rows of cells, each column as wide as its widest cell; numbers to the right.
class Table {
 public:
  explicit Table(std::vector<std::string> head) { add(std::move(head)); }
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  void note(std::string text) { rows_.push_back({"", std::move(text)}); }

  std::string text(std::size_t left) const {
    std::vector<std::size_t> widths(rows_[0].size());
    for (const auto& row : rows_) {
      if (row.size() != widths.size()) continue;
      for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
    }
    std::string text;
    for (const auto& row : rows_) {
      std::string line;
      if (row.size() != widths.size()) {
        line = std::string(widths[0] + 4, ' ') + "  " + row[1];
      } else {
        for (std::size_t k = 0; k < row.size(); ++k) {
          line += k < left ? format("  {:<{}}", row[k], widths[k])
                           : format("  {:>{}}", row[k], widths[k]);
        }
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text += line + "\n";
    }
    return text;
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

std::string place_text(const Place& p) {
  if (!p.known()) return "";
  const auto slash = p.file.rfind('/');
  return format(" ({}:{})", slash == std::string::npos ? p.file : p.file.substr(slash + 1), p.line);
}

/// The operations, equal neighbours as one; lines of at most about a hundred characters.
std::vector<std::string> op_lines(const std::vector<OpReport>& ops) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < ops.size();) {
    std::size_t n = 1;
    auto same = [&](const OpReport& o) {
      return o.op == ops[i].op && o.place.file == ops[i].place.file &&
             o.place.line == ops[i].place.line;
    };
    while (i + n < ops.size() && same(ops[i + n])) ++n;
    const std::string text =
        ops[i].op + (n > 1 ? format(" x{}", n) : "") + place_text(ops[i].place);
    if (!lines.back().empty() && lines.back().size() + text.size() > 96) {
      lines.back() += ",";
      lines.emplace_back();
    }
    lines.back() += (lines.back().empty() ? "" : ", ") + text;
    i += n;
  }
  return lines;
}

std::string kernels_text(const Report& r) {
  const bool timed = r.timed_seconds.has_value();
  std::vector<std::string> head{"kernel", "", "runs on", "reads", "writes", "flops"};
  if (timed) head.insert(head.end(), {"calls", "time", "of all", "of the roofline"});
  head.insert(head.begin(), "#");
  Table table(std::move(head));
  double all = 0;
  for (const KernelReport& k : r.kernels) all += k.seconds.value_or(0);
  for (std::size_t i = 0; i < r.kernels.size(); ++i) {
    const KernelReport& k = r.kernels[i];
    std::vector<std::string> row{std::to_string(i),
                                 k.name,
                                 k.space,
                                 k.runs_on,
                                 bytes_text(k.bytes_read),
                                 bytes_text(k.bytes_written),
                                 k.flops ? count_text(*k.flops) : "?"};
    if (timed) {
      row.push_back(k.calls ? std::to_string(k.calls) : "");
      row.push_back(k.seconds ? time_text(*k.seconds) : "");
      row.push_back(k.seconds && all > 0 ? format("{:.0f} %", 100 * *k.seconds / all) : "");
      row.push_back(k.roofline ? format("{:.0f} %", 100 * *k.roofline) : "");
    }
    table.add(std::move(row));
    for (const std::string& line : op_lines(k.ops)) table.note(line);
    if (k.in_place) table.note("in place");
    if (!k.reason.empty()) table.note(k.reason);
  }
  return table.text(4);
}

std::string memory_text(const Report& r) {
  Table table({"storage", "kind", "type", "bytes", "at", "kernels"});
  for (const MemoryReport& m : r.memory) {
    std::string kernels = m.first < 0 ? "" : format("{} to {}", m.first, m.last);
    table.add({m.name, m.kind, m.type, m.bytes ? std::to_string(*m.bytes) : "?",
               m.offset ? std::to_string(*m.offset) : "", std::move(kernels)});
    for (const std::string& d : m.donors) {
      table.note("takes over the memory of " + d + " where that is donated");
    }
  }
  return table.text(3);
}

// ---- JSON ----

std::string quoted(std::string_view s) {
  std::string r = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') {
      r += '\\';
      r += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      r += format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      r += c;
    }
  }
  return r + "\"";
}
template <class T>
std::string number(const std::optional<T>& x) {
  return x ? format("{}", *x) : "null";
}
template <class T, class F>
std::string list(const std::vector<T>& xs, const F& element) {
  std::string r = "[";
  for (const T& x : xs) r += (r.size() > 1 ? ", " : "") + element(x);
  return r + "]";
}
std::string op_json(const OpReport& o) {
  return format("{{\"op\": {}, \"value\": {}, \"file\": {}, \"line\": {}}}", quoted(o.op),
                quoted(o.value), quoted(o.place.file), o.place.line);
}
std::string kernel_json(const KernelReport& k) {
  return format(
      "\n    {{\"name\": {}, \"space\": {}, \"runs_on\": {}, \"reason\": {}, \"bytes_read\": {}, "
      "\"bytes_written\": {}, \"flops\": {}, \"in_place\": {}, \"calls\": {}, \"seconds\": {}, "
      "\"roofline\": {}, \"ops\": {}}}",
      quoted(k.name), quoted(k.space), quoted(k.runs_on), quoted(k.reason), number(k.bytes_read),
      number(k.bytes_written), number(k.flops), k.in_place, k.calls, number(k.seconds),
      number(k.roofline), list(k.ops, op_json));
}
std::string memory_json(const MemoryReport& m) {
  return format(
      "\n    {{\"name\": {}, \"kind\": {}, \"type\": {}, \"bytes\": {}, \"offset\": {}, \"first\": "
      "{}, \"last\": {}, \"donors\": {}}}",
      quoted(m.name), quoted(m.kind), quoted(m.type), number(m.bytes), number(m.offset), m.first,
      m.last, list(m.donors, quoted));
}

}  // namespace

std::string Report::text() const {
  std::string t = format("{} on {}: {} kernels, {}\n", program, backend, kernels.size(), code);
  if (!reason.empty()) t += "  not compiled: " + reason + "\n";
  for (std::size_t i = 0; i < sizes.size(); ++i) t += (i ? ", " : "  ") + sizes[i];
  if (!sizes.empty()) t += "\n";
  t += "\n" + kernels_text(*this);
  if (ceilings) {
    t += format(
        "  of the roofline: the time that one core needs at least, by bytes and by flops; it "
        "reaches {}flops f32, {}flops f64, {}/s from memory{}\n",
        count_text(ceilings->flops_f32), count_text(ceilings->flops_f64),
        bytes_text(ceilings->memory),
        threads > 1 ? format("; there were up to {} threads", threads) : "");
  }
  if (seconds) {
    t += format("\n  a run: {}", time_text(*seconds));
    if (timed_seconds) t += format("; with its kernels timed: {}", time_text(*timed_seconds));
    t += runs > 1 ? format(" (the best of {} runs)\n", runs) : "\n";
  }
  t += format("\nmemory: {} predicted ({} arena, {} results, {} scratch)",
              bytes_text(static_cast<double>(predicted_peak)),
              bytes_text(static_cast<double>(arena_bytes)),
              bytes_text(static_cast<double>(result_bytes)),
              bytes_text(static_cast<double>(scratch_bytes)));
  if (threads > 1 && scratch_bytes > 0) t += ", up to as much scratch for each other thread";
  if (kept_bytes > 0) {
    t += format(", beside {} kept between runs", bytes_text(static_cast<double>(kept_bytes)));
  }
  if (grows) t += ", and what grows during the run";
  if (measured_peak) {
    t += format("; {} measured", bytes_text(static_cast<double>(*measured_peak)));
  } else if (!peak_reason.empty()) {
    t += "; not measured: " + peak_reason;
  }
  t += "\n" + memory_text(*this);
  if (!traces.empty()) {
    t += "\n";
    for (const std::string& trace : traces) t += trace;
  }
  return t;
}

std::ostream& operator<<(std::ostream& out, const Report& r) { return out << r.text(); }

std::string Report::json() const {
  std::string ceiling = "null";
  if (ceilings) {
    ceiling = format("{{\"flops_f32\": {}, \"flops_f64\": {}, \"memory\": {}}}",
                     ceilings->flops_f32, ceilings->flops_f64, ceilings->memory);
  }
  return format(
      "{{\n  \"program\": {}, \"backend\": {}, \"code\": {}, \"reason\": {}, \"sizes\": {},\n"
      "  \"arena_bytes\": {}, \"result_bytes\": {}, \"scratch_bytes\": {}, \"kept_bytes\": {}, "
      "\"grows\": {}, "
      "\"predicted_peak\": {}, \"measured_peak\": {},\n"
      "  \"seconds\": {}, \"timed_seconds\": {}, \"runs\": {}, \"threads\": {}, \"ceilings\": {},\n"
      "  \"kernels\": {},\n  \"memory\": {},\n  \"traces\": {}\n}}\n",
      quoted(program), quoted(backend), quoted(code), quoted(reason), list(sizes, quoted),
      arena_bytes, result_bytes, scratch_bytes, kept_bytes, grows, predicted_peak,
      number(measured_peak), number(seconds), number(timed_seconds), runs, threads, ceiling,
      list(kernels, kernel_json), list(memory, memory_json), list(traces, quoted));
}

}  // namespace tlaloc::runtime
