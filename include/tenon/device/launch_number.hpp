// tenon/device/launch_number.hpp: which launch of a captured graph runs, for kernels that draw random numbers.
// What a graph captures stays as it is, so the number lies in the device's memory; a kernel before the launch sets it.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/launch.hpp>

namespace tenon {

namespace detail {

struct launch_number_kernel {
  static constexpr const char* name = "launch_number";
  std::uint64_t* place;
  std::uint64_t number;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device&) const {
    *place = number;
  }
};

template <class Space>
void write_launch_number(captured_work& work) {
  launch<Space>({.grid = {1}, .block = 1}, launch_number_kernel{work.launch_number, ++work.launches});
}

}  // namespace detail

/// Where kernels that the calling thread captures read the number of their launch, from 1; null where it captures none.
/// cost      a kernel before each launch of the graph
template <class Space>
const std::uint64_t* number_of_launch() {
  captured_work* const work = thread_capture<Space>();
  if (work == nullptr) return nullptr;
  if (work->launch_number == nullptr) {
    work->hands_out = false;  // the graph's earlier kernels would write to what was freed
    work->launch_number = static_cast<std::uint64_t*>(Space::allocate(sizeof *work->launch_number));
    work->hands_out = true;
    work->before_launch = detail::write_launch_number<Space>;
  }
  return work->launch_number;
}

}  // namespace tenon
