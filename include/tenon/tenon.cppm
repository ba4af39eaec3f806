// tenon/tenon.cppm: Tenon as a C++20 module, `import tenon;`: all but what needs another library or device.
// docs/guide/extending.md says how it is built, and how headers are added.
// Headers of others come first, outside the module; a test compares this list with what Tenon's headers include.
// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <bitset>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <clocale>
#include <cmath>
#include <compare>
#include <complex>
#include <concepts>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <iostream>
#include <iterator>
#include <limits>
#include <list>
#include <locale>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <ostream>
#include <set>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <vector>
#include <version>
#if defined(__cpp_lib_format)
#include <format>
#endif
#if defined(__cpp_lib_mdspan)
#include <mdspan>
#endif
#if defined(_OPENMP)
#include <omp.h>
#endif
#if TENON_XSIMD
#include <xsimd/xsimd.hpp>
#endif
#if TENON_ZLIB
#include <zlib.h>
#endif
#if TENON_PNG
#include <png.h>
#endif
export module tenon;

export extern "C++" {
#include <tenon/expr/operations/complex.hpp>
#include <tenon/grad/gradcheck.hpp>
#include <tenon/io/dlpack.hpp>
#include <tenon/io/mdspan.hpp>
#include <tenon/linalg.hpp>
#include <tenon/nn/block_linear.hpp>
#include <tenon/nn/explain.hpp>
#include <tenon/nn/key_value_cache.hpp>
#include <tenon/nn/stream.hpp>
#include <tenon/profile.hpp>
#include <tenon/run_log.hpp>
#include <tenon/train.hpp>
#include <tenon/tune.hpp>
}
