// tests/contraction/algorithm.cpp: the first algorithm of a list that takes a problem runs it, and no other.
// Types, numbers, or neither decide; what stands behind an algorithm that takes all is not compiled.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <tenon/contraction/algorithm.hpp>
#include <type_traits>

#include "support/catch.hpp"

namespace {

/// Notes which algorithm ran.
template <class T>
struct noted_problem {
  using element = T;
  int size;
  std::string* ran;
};

struct small_sizes {
  static constexpr const char* name = "small sizes";
  template <class Problem>
  static constexpr bool can_take = true;
  template <class Problem>
  static bool takes(const Problem& problem) {
    return problem.size < 10;
  }
  template <class Problem>
  static void run(const Problem& problem) {
    *problem.ran += name;
  }
};

/// Compiles for float alone.
struct floats {
  static constexpr const char* name = "floats";
  template <class Problem>
  static constexpr bool can_take = std::is_same_v<typename Problem::element, float>;
  template <class Problem>
  static void run(const Problem& problem) {
    static_assert(std::is_same_v<typename Problem::element, float>);
    *problem.ran += name;
  }
};

/// Compiles for int alone, though it says that it takes all.
struct integers {
  static constexpr const char* name = "integers";
  template <class Problem>
  static constexpr bool can_take = true;
  template <class Problem>
  static bool takes(const Problem& problem) {
    static_assert(std::is_same_v<typename Problem::element, int>);
    return problem.size < 100;
  }
  template <class Problem>
  static void run(const Problem& problem) {
    *problem.ran += name;
  }
};

using all = tenon::algorithm_list<small_sizes, floats, integers>;

/// What ran, having been named before.
template <class T>
std::string run(int size) {
  std::string ran;
  const noted_problem<T> problem{size, &ran};
  const char* const name = tenon::name_of_first(problem, all{});
  CHECK(ran == "");
  const char* const found = tenon::run_first(problem, all{});
  CHECK(std::string(name == nullptr ? "" : name) == ran);
  CHECK(std::string(found == nullptr ? "" : found) == ran);
  return ran;
}

}  // namespace

TEST_CASE("the first algorithm that takes a problem runs it", "[algorithm]") {
  CHECK(run<float>(3) == "small sizes");
  CHECK(run<float>(30) == "floats");
  CHECK(run<int>(3) == "small sizes");
  CHECK(run<int>(30) == "integers");
}

TEST_CASE("a problem that no algorithm takes is left alone", "[algorithm]") {
  CHECK(run<int>(300) == "");
  std::string ran;
  CHECK(tenon::run_first(noted_problem<int>{3, &ran}, tenon::algorithm_list<>{}) == nullptr);
  CHECK(ran == "");
}
