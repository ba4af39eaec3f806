// tests/ptx/calls.hpp: calls of functions of a module, which nvcc leaves where a function is long.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace tenon_test::ptx {

/// The functions of a module by their names: texts from `.func` to the closing brace.
using function_texts = std::map<std::string, std::string_view, std::less<>>;

/// The text of an entry in which the body of a function stands for each call of it. Registers, labels and arguments of
/// every copy have names of their own; arguments lie in local memory.
/// throws    fault where a function has no body, calls itself, or is given another number of arguments than it takes
std::string with_bodies_of_calls(std::string_view entry, const function_texts& functions);

}  // namespace tenon_test::ptx
