#include <tlaloc/tlaloc.h>

#include <iostream>
#include <string>

// Needs the library, not the headers alone: the text is put together in compiled code.
int main() {
  try {
    throw tlaloc::UserError({.code = "TL-TEST-001",
                             .op = "consumer",
                             .message = "thrown on purpose",
                             .hint = "",
                             .place = {}});
  } catch (const tlaloc::Error& error) {
    std::cout << error.what() << '\n';
    return std::string(error.what()).find("TL-TEST-001") == std::string::npos;
  }
}
