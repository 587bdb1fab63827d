// usage: tokenize_bench TOKENIZER DOCUMENTS
//
// DOCUMENTS has the number of bytes of each document and the document, in turns. Tasks come line by
// line: "ids" and "offsets" encode all documents on this thread, "batch" on all threads, "letter N"
// encodes N times the letter a, "load" reads the tokenizer, "list" gives all ids. Answers:
// processor time in seconds (of the thread; of the process for a batch) and the number of tokens;
// the ids.
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bench/timing.h"
#include "tlaloc/base/files.h"
#include "tlaloc/text/tokenizer_json.h"

namespace {

using namespace tlaloc::text;

std::vector<std::string_view> documents_of(std::span<const std::byte> bytes) {
  std::vector<std::string_view> documents;
  for (std::size_t at = 0; at + 4 <= bytes.size();) {
    std::uint32_t size;
    std::memcpy(&size, bytes.data() + at, 4);
    documents.emplace_back(reinterpret_cast<const char*>(bytes.data()) + at + 4, size);
    at += 4 + size;
  }
  return documents;
}

double process_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

void serve(const char* path, const std::vector<std::string_view>& documents) {
  const Tokenizer tokenizer = load_tokenizer(path);
  std::vector<TokenId> ids;
  auto encode_ids = [&] {
    ids.clear();
    for (const std::string_view d : documents) tokenizer.encode_ids(d, ids);
    return ids.size();
  };
  char task[16];
  while (std::scanf("%15s", task) == 1) {
    const std::string what = task;
    std::size_t tokens = 0;
    double seconds = 0;
    auto timed = [&](auto work) { seconds = bench::time_of([&] { tokens = work(); }); };
    if (what == "list") {
      encode_ids();
      for (const TokenId id : ids) std::printf("%d ", id);
      std::printf("\n");
    } else if (what == "ids") {
      timed(encode_ids);
    } else if (what == "offsets") {
      EncodeOptions options;
      options.offsets = Offsets::kCharacters;
      timed([&] {
        std::size_t n = 0;
        for (const std::string_view d : documents) n += tokenizer.encode(d, options).size();
        return n;
      });
    } else if (what == "batch") {
      const double start = process_seconds();
      for (const auto& e : tokenizer.encode_batch(documents)) tokens += e.size();
      seconds = process_seconds() - start;
    } else if (what == "letter") {
      std::size_t size = 0;
      if (std::scanf("%zu", &size) != 1) return;
      const std::string text(size, 'a');
      timed([&] {
        ids.clear();
        tokenizer.encode_ids(text, ids);
        return ids.size();
      });
    } else if (what == "load") {
      timed([&] { return static_cast<std::size_t>(load_tokenizer(path).bound()); });
    }
    if (what != "list") std::printf("%.9f %zu\n", seconds, tokens);
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto file = tlaloc::MappedFile::open("tokenize_bench", argv[2]);
  serve(argv[1], documents_of(file->bytes()));
  return 0;
}
