// What a back end tells about a program: its kernels, its memory, and what a run took.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tlaloc/base/error.h"

namespace tlaloc::runtime {

/// An operation of the program, as the user wrote it.
struct OpReport {
  std::string op;     ///< its name in the op table
  std::string value;  ///< what the program calls its result, or what that is a tangent of; or empty
  Place place;        ///< the user's line, where it is known
};

/// A piece of the program that is computed at once. What depends on sizes that only a run finds out
/// has no value.
struct KernelReport {
  std::string name;   ///< "dot_general", or the operation that a loop ends in
  std::string space;  ///< "[128, 512]", "128x784x512": what it runs over
  std::vector<OpReport> ops;
  std::string runs_on;  ///< "compiled code", "matrix kernel", "precompiled kernel", "reference"
  std::string reason;   ///< why on nothing better; empty where it is the best there is
  /// Bytes of the elements read and written, each counted once.
  std::optional<std::int64_t> bytes_read, bytes_written;
  /// Floating-point operations as the program has them; exp and its like are one.
  std::optional<double> flops;
  bool in_place = false;  ///< it writes where it reads
  // What a run took.
  std::int64_t calls = 0;
  /// Time of all calls; no value for code that runs as a part of what is around it.
  std::optional<double> seconds;
  /// Of the limits of one core (memory, arithmetic) the nearer one: 1 is as fast as it can be;
  /// several threads may be faster.
  std::optional<double> roofline;
};

struct MemoryReport {
  std::string name;  ///< "argument 0 (x)", "result 1", "s7"
  std::string kind;  ///< "argument", "constant", "result", "arena", "grows"
  std::string type;  ///< "f32"
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> offset;  ///< in the arena
  /// Kernels between which something lies there: the first and the last one that touches it.
  std::int64_t first = 0, last = 0;
  std::vector<std::string> donors;  ///< arguments whose memory it takes over where they are donated
};

/// What the machine can do on one core, measured.
struct CeilingReport {
  double flops_f32 = 0, flops_f64 = 0;  ///< per second
  double memory = 0;                    ///< bytes per second, from main memory
};

struct Report {
  std::string program, backend;
  std::string code;                ///< "compiled code", or what runs it instead
  std::string reason;              ///< why it was not compiled; empty where it was
  std::vector<std::string> sizes;  ///< "batch = 128"
  std::vector<KernelReport> kernels;
  std::vector<MemoryReport> memory;
  std::int64_t arena_bytes = 0, result_bytes = 0, scratch_bytes = 0;  ///< scratch: of one thread
  /// What was made of arguments when they were bound, and is there between runs.
  std::int64_t kept_bytes = 0;
  /// Some memory is made during the run, as loops go on: no prediction covers it.
  bool grows = false;
  /// All that a run by one thread allocates at one time: arena, results and scratch.
  std::int64_t predicted_peak = 0;
  /// What the process grew by at most during a first run, as the system counts it.
  std::optional<std::int64_t> measured_peak;
  std::string peak_reason;  ///< why it was not measured, where something ran
  // What runs took; nothing without arguments.
  std::optional<double> seconds;        ///< of a run as it is
  std::optional<double> timed_seconds;  ///< of the one whose kernels were timed
  std::int64_t runs = 0;
  std::int64_t threads = 1;  ///< that large kernels may be computed by
  std::optional<CeilingReport> ceilings;
  /// Why the program was traced, each time.
  std::vector<std::string> traces;

  std::string text() const;
  std::string json() const;
};
/// The text.
std::ostream& operator<<(std::ostream& out, const Report& r);

}  // namespace tlaloc::runtime
