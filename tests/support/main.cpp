// tests/support/main.cpp: the one main function of every test executable, and Catch2's code.
// It is weak, so that a program that has a main function of its own can take the code alone.
// Compiled by nvcc it says "skipped" (exit code 77) where no device answers, as a test cannot know that beforehand.
// SPDX-License-Identifier: Apache-2.0
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#if defined(__CUDACC__)
#include <cstdio>
#include <tenon/device/runtime.hpp>
#endif

[[gnu::weak]] int main(int argument_count, char** arguments) {
#if defined(__CUDACC__)
  if (tenon::cuda_device_count() == 0) {
    std::puts("skipped: no CUDA device");
    return 77;
  }
#endif
  return Catch::Session().run(argument_count, arguments);
}
