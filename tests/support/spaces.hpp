// tests/support/spaces.hpp: the memory spaces that tests run over.
// A test is written once, over this list; a new device backend is one more name in it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/space.hpp>
#include <tenon/device/emulated.hpp>
#include <tuple>

namespace tenon_test {

#if defined(__CUDACC__)
/// For TEMPLATE_LIST_TEST_CASE. The other two were tested as C++; where no device answers, main skips the executable.
using spaces = std::tuple<tenon::cuda>;
/// The spaces whose statements are kernels.
using kernel_spaces = std::tuple<tenon::cuda>;
#else
using spaces = std::tuple<tenon::host, tenon::emulated>;
using kernel_spaces = std::tuple<tenon::emulated>;
#endif

}  // namespace tenon_test
