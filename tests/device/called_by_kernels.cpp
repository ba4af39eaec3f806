// tests/device/called_by_kernels.cpp: functions that kernels may call, and those that only the host calls.
// What nvcc refuses is in tests/instructions/refused.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/called_by_kernels.hpp>

#include <tenon/device/emulated_memory.hpp>

#include "support/catch.hpp"

namespace {

struct product_of_host {
  float operator()(float left, float right) const { return left * right; }
};

struct product_of_all {
  TENON_HOST_DEVICE float operator()(float left, float right) const { return left * right; }
};

template <class Product>
struct product_fold {
  template <class State>
  TENON_HOST_DEVICE static State identity() {
    return 1;
  }
  template <class State>
  TENON_HOST_DEVICE static State lift(float value, tenon::index) {
    return value;
  }
  TENON_NO_EXEC_CHECK
  TENON_HOST_DEVICE static float combine(float left, float right) { return Product{}(left, right); }
  template <class Result>
  TENON_HOST_DEVICE static Result finish(float state, tenon::index) {
    return state;
  }
};

constexpr float (*pointer)(float, float) = [](float left, float right) { return left * right; };

template <class Space>
void check_host_and_device() {
  using tenon::detail::check_called_by_kernels, tenon::detail::check_folded_by_kernels;
  check_called_by_kernels<Space, product_of_all, float, float>();
  check_folded_by_kernels<Space, product_fold<product_of_all>, float, float, float>();
}

}  // namespace

TEST_CASE("spaces of the host take any function", "[device]") {
  using tenon::detail::check_called_by_kernels, tenon::detail::check_folded_by_kernels;
  check_called_by_kernels<tenon::emulated, product_of_host, float, float>();
  check_called_by_kernels<tenon::emulated, decltype(pointer), float, float>();
  check_folded_by_kernels<tenon::emulated, product_fold<product_of_host>, float, float, float>();
  CHECK(product_fold<product_of_host>::combine(pointer(2, 3), 2) == 12);
}

TEST_CASE("all spaces take functions of host and device", "[device]") {
  check_host_and_device<tenon::emulated>();
  check_host_and_device<tenon::cuda>();
  CHECK(product_fold<product_of_all>::combine(2, 3) == 6);
}
