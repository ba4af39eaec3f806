// tests/fuzz/libfuzzer.cpp: one reader under libFuzzer, which looks for inputs that reach new code.
// `fuzz_readers --format=NAME`; inputs are made and damaged as in tests/fuzz/readers, and by libFuzzer itself.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "fuzz/readers/damage.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

const fuzz::format* chosen = nullptr;
long long inputs = 0, accepted = 0;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  static const auto formats = fuzz::all_formats();
  for (int i = 1; i < *count; ++i) {
    for (const auto& each : formats) {
      if (std::string((*arguments)[i]) == std::string("--format=") + each.name) chosen = &each;
    }
  }
  if (chosen == nullptr) {
    std::puts("expected --format= and one of:");
    for (const auto& each : formats) std::puts(each.name);
    std::exit(77);  // skipped: built without the library of its format
  }
  std::atexit([] { std::printf("%s: %lld inputs, %lld accepted\n", chosen->name, inputs, accepted); });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ++inputs;
  if (fuzz::is_accepted(*chosen, fuzz::bytes(data, data + size))) ++accepted;
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  tenon_test::random_source random(seed);
  if (size > 1 && fuzz::once_in(4, random)) return LLVMFuzzerMutate(data, size, most);
  const bool is_new = size < 2 || fuzz::once_in(3, random);
  fuzz::bytes content = is_new ? chosen->make(random) : fuzz::bytes(data, data + size);
  if (!is_new || fuzz::once_in(2, random)) content = fuzz::attack(*chosen, std::move(content), random);
  content.resize(std::min(content.size(), most));
  std::copy(content.begin(), content.end(), data);
  return content.size();
}
