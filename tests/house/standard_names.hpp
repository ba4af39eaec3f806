// tests/house/standard_names.hpp: which standard header a name of std comes from, for names that have one home.
// Compilers' own headers include each other, so a header that compiles here without <vector> may not compile elsewhere.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <sstream>
#include <string>

namespace house {

/// The header by name: `vector` is in <vector>, `unique_ptr` in <memory>.
inline std::map<std::string, std::string> headers_of_standard_names() {
  static constexpr const char* names_of_headers[][2] = {
      {"algorithm",
       "all_of any_of clamp copy copy_n fill fill_n find find_if lower_bound max max_element min "
       "min_element sort stable_sort"},
      {"atomic", "atomic atomic_thread_fence"},
      {"bit", "bit_cast bit_ceil countr_zero has_single_bit popcount"},
      {"bitset", "bitset"},
      {"charconv", "from_chars to_chars"},
      {"chrono", "chrono"},
      {"cmath", "abs ceil exp fabs floor frexp isfinite isinf isnan ldexp log lround pow sqrt tanh"},
      {"complex", "complex"},
      {"concepts", "convertible_to floating_point integral invocable same_as"},
      {"condition_variable", "condition_variable"},
      {"cstdio", "FILE fopen printf snprintf"},
      {"cstdlib", "abort free getenv malloc"},
      {"cstring", "memcpy memset strcmp strlen"},
      {"deque", "deque"},
      {"exception", "current_exception exception_ptr uncaught_exceptions"},
      {"filesystem", "filesystem"},
      {"fstream", "ifstream ofstream"},
      {"functional", "function"},
      {"initializer_list", "initializer_list"},
      {"iostream", "cerr cout"},
      {"iterator", "back_inserter"},
      {"limits", "numeric_limits"},
      {"list", "list"},
      {"map", "map"},
      {"memory", "make_shared make_unique shared_ptr unique_ptr weak_ptr"},
      {"mutex", "call_once lock_guard mutex once_flag scoped_lock unique_lock"},
      {"numeric", "accumulate iota"},
      {"optional", "nullopt optional"},
      {"set", "set"},
      {"span", "span"},
      {"sstream", "istringstream ostringstream stringstream"},
      {"stdexcept", "invalid_argument length_error logic_error out_of_range runtime_error"},
      {"string", "stoi string to_string"},
      {"string_view", "string_view"},
      {"system_error", "error_code system_error"},
      {"thread", "this_thread thread"},
      {"tuple", "tie tuple"},
      {"type_traits", "conditional_t decay_t enable_if_t is_floating_point_v is_integral_v is_same_v remove_cvref_t"},
      {"unordered_map", "unordered_map"},
      {"vector", "vector"},
  };
  std::map<std::string, std::string> headers;
  for (const auto& [header, names] : names_of_headers) {
    std::istringstream words(names);
    for (std::string name; words >> name;) headers[name] = header;
  }
  return headers;
}

}  // namespace house
