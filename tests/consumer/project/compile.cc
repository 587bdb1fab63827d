// Compiles: the library that does so is found where the package is installed.
#include <tlaloc/cpu/compiler.h>

#include <iostream>

int main() {
  const auto code = tlaloc::cpu::compile_ir("define i32 @answer() {\n  ret i32 42\n}\n");
  std::cout << code->function<int()>("answer")() << "\n";
}
