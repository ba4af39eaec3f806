// tests/portability/newer_standard.cpp: what C++23 adds: several subscripts in brackets.
// The compiler evaluates it, as tensors in place have no memory on the heap.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg.hpp>
#include <tenon/train.hpp>

namespace {

#if defined(__cpp_multidimensional_subscript)
using table = tenon::tensor<int, tenon::shape<2, 3>>;

constexpr int of_elements() {
  table x = {{1, 2, 3}, {4, 5, 6}};
  x[1, 2] += 10;
  const table& fixed = x;
  return fixed[0, 1] + x.view()[1, 2];
}
static_assert(of_elements() == 18);

constexpr int of_parts() {
  table x = {{1, 2, 3}, {4, 5, 6}};
  int sum = 0;
  for (const int value : x[tenon::all_of, 1]) sum += value;
  for (const int value : x.view()[0, tenon::range(1, 3)]) sum += 100 * value;
  return sum;
}
static_assert(of_parts() == 507);
#elif defined(__clang__) || __GNUC__ > 11
#error "this standard has several subscripts in brackets"
#endif

}  // namespace
