// tests/device/spaces.hpp: runs a kernel test on every space that is there.
// Kernels are written once, so their tests are: emulated always, cuda where nvcc compiles and a device answers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/emulated.hpp>
#include <vector>

namespace tenon_test {

/// Memory of `Space` with the values of a vector, and back.
template <class Space, class T>
class device_copy {
 public:
  explicit device_copy(const std::vector<T>& values)
      : count_(values.size()), data_(static_cast<T*>(Space::allocate(bytes() + 1))) {
    Space::copy_from_host(data_, values.data(), bytes());
  }
  device_copy(const device_copy&) = delete;
  device_copy& operator=(const device_copy&) = delete;
  ~device_copy() { Space::deallocate(data_, bytes() + 1); }

  T* data() const { return data_; }
  std::vector<T> values() const {
    std::vector<T> result(count_);
    Space::copy_to_host(result.data(), data_, bytes());
    return result;
  }

 private:
  std::size_t bytes() const { return count_ * sizeof(T); }

  std::size_t count_;
  T* data_;
};

/// Small whole numbers, which every type multiplies and adds exactly.
template <class T>
std::vector<T> whole_numbers(int count, int factor) {
  std::vector<T> values;
  for (int i = 0; i < count; ++i) values.push_back(static_cast<T>(static_cast<float>(i * factor % 17 - 8)));
  return values;
}

/// Calls `body(Space{})` for each space: for CUDA where kernels are made for `least_architecture` or a newer one.
template <class Body>
void on_each_space_since([[maybe_unused]] int least_architecture, Body body) {
  body(tenon::emulated{});
#if defined(__CUDACC__)
  if (tenon::cuda_device_count() == 0) return;
  if (tenon::space_devices<tenon::cuda>::architecture() >= least_architecture) body(tenon::cuda{});
#endif
}
template <class Body>
void on_each_space(Body body) {
  on_each_space_since(0, body);
}

/// The text of the `Exception` that `body` throws; empty when it throws none.
template <class Exception, class Body>
std::string text_thrown(Body body) {
  try {
    body();
  } catch (const Exception& caught) {
    return caught.what();
  }
  return {};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace tenon_test
