// tests/headers/no_statement.cpp: no function of a door has a statement that programs compile without calling it.
// What every statement is made of is taken away behind the doors; compilers refuse what runs one nevertheless.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg.hpp>
#include <tenon/train.hpp>

namespace tenon::detail {
template <>
struct any_statement<2>;
template <>
struct any_statement<4>;
}  // namespace tenon::detail
