// Many random programs, in several processes; a run that was stopped goes on where it was.
//
//   transform_random FIRST COUNT [PROCESSES [STATE]]   checks the seeds FIRST … FIRST + COUNT - 1
//   transform_random SEED                              checks one and prints its text
//
// STATE (default: random) names files: STATE.<process> says how far each process came, and
// STATE.failures has what it found. The last line is a summary. Exit status 1 if anything is wrong.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/transform/random_check.h"
#include "tests/transform/random_programs.h"

namespace tlaloc::testing {
namespace {

using Seed = std::uint64_t;

struct Range {
  Seed first, end;
  int processes;
  std::string state;
  std::string file(int process) const { return state + "." + std::to_string(process); }
};

/// What one process did; a line in its file. It belongs to one range.
struct Progress {
  Seed next = 0;
  long agree = 0, skipped = 0, wrong = 0;
  void load(const Range& r, int process) {
    next = r.first + static_cast<Seed>(process);
    std::ifstream in(r.file(process));
    Seed first = 0;
    int processes = 0;
    Progress p;
    if (in >> first >> processes >> p.next >> p.agree >> p.skipped >> p.wrong && first == r.first &&
        processes == r.processes) {
      *this = p;
    }
  }
  void store(const Range& r, int process) const {
    std::ofstream(r.file(process)) << r.first << ' ' << r.processes << ' ' << next << ' ' << agree
                                   << ' ' << skipped << ' ' << wrong << '\n';
  }
};

void report(const Range& r, Seed seed, const std::string& policy, const std::string& line) {
  const std::string text =
      "seed " + std::to_string(seed) + ", " + policy + ": " + line.substr(0, 600) + "\n";
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  std::ofstream(r.state + ".failures", std::ios::app) << text;
}

/// Symbols are kept for the life of a process, some 300 KB a program.
constexpr int kProgramsPerProcess = 2000;
constexpr int kMoreToDo = 3;

/// The exit status.
int work(const Range& r, int process) {
  Progress p;
  p.load(r, process);
  for (int done = 0; p.next < r.end; p.next += static_cast<Seed>(r.processes), ++done) {
    // Stored before the seed runs: where it kills the process, the parent knows which one it was.
    p.store(r, process);
    if (done == kProgramsPerProcess) return kMoreToDo;
    const RandomResult c = check_random(p.next);
    p.agree += c.verdict == Verdict::agrees;
    p.skipped += c.verdict == Verdict::skipped;
    p.wrong += c.verdict == Verdict::wrong;
    for (const std::string& line : c.lines) report(r, p.next, c.policy, line);
  }
  p.store(r, process);
  return 0;
}

/// Runs one process again when it has done its share, and after each seed that kills it.
void supervise(const Range& r, int process) {
  for (;;) {
    const pid_t child = fork();
    if (child == 0) {
      _exit(work(r, process));
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kMoreToDo) continue;
    Progress p;
    p.load(r, process);
    report(r, p.next, "", "the process died with status " + std::to_string(status));
    ++p.wrong;
    p.next += static_cast<Seed>(r.processes);
    p.store(r, process);
  }
}

int run_range(const Range& r) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<pid_t> children;
  for (int k = 0; k < r.processes; ++k) {
    children.push_back(fork());
    if (children.back() == 0) {
      supervise(r, k);
      _exit(0);
    }
  }
  for (pid_t c : children) waitpid(c, nullptr, 0);
  Progress sum;
  for (int k = 0; k < r.processes; ++k) {
    Progress p;
    p.load(r, k);
    sum.agree += p.agree;
    sum.skipped += p.skipped;
    sum.wrong += p.wrong;
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::printf("random programs %llu to %llu: %ld agree, %ld skipped, %ld wrong; %.0f s\n",
              static_cast<unsigned long long>(r.first), static_cast<unsigned long long>(r.end - 1),
              sum.agree, sum.skipped, sum.wrong, seconds.count());
  return sum.wrong > 0;
}

int run_one(Seed seed) {
  std::printf("%s\n", random_program(seed).graph->to_string().c_str());
  const RandomResult c = check_random(seed);
  for (const std::string& line : c.lines) std::printf("%s\n", line.c_str());
  std::printf("seed %llu, %s: %s\n", static_cast<unsigned long long>(seed), c.policy.c_str(),
              c.verdict == Verdict::agrees    ? "agrees"
              : c.verdict == Verdict::skipped ? "skipped"
                                              : "wrong");
  return c.verdict == Verdict::wrong;
}

}  // namespace
}  // namespace tlaloc::testing

int main(int argc, char** argv) {
  using namespace tlaloc::testing;  // NOLINT
  auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  if (argc == 2) return run_one(number(1));
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s SEED | FIRST COUNT [PROCESSES [STATE]]\n", argv[0]);
    return 2;
  }
  return run_range({number(1), number(1) + number(2), argc > 3 ? std::atoi(argv[3]) : 2,
                    argc > 4 ? argv[4] : "random"});
}
