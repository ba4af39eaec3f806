// tenon/device/device_guard.hpp: the device that a thread uses, of a space that has several.
// A space says what its devices are by one trait, so that statements ask every space the same questions.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/error.hpp>
#include <utility>

namespace tenon {

struct cuda;

/// A stream of work of a device; what runs on one stream runs in its order.
struct stream_id {
  const void* handle = nullptr;  ///< null: the device's default stream
  int device = 0;
  bool operator==(const stream_id&) const = default;
};

/// What a space tells about its devices. A space that has some specialises this trait:
///   count(), current()   how many there are, which one the thread uses
///   stream()             the thread's current stream there
///   use(device)          makes the thread use another
///   of(address)          the one on which memory lies; the current one for memory that others allocated
///   are_watched()        whether statements must be checked: there is more than one device or stream
///   note(address)        the current stream uses the block in which `address` lies
template <class Space>
struct space_devices {
  static constexpr bool available = false;
  static stream_id stream() { return {}; }
};

template <class Space>
concept has_devices = space_devices<Space>::available;

/// How many devices of `Space` this process can use.
template <class Space = cuda>
int device_count() {
  static_assert(has_devices<Space> || must_hold<Space>,
                "tenon: this space has no devices here; for cuda compile this file with nvcc");
  return space_devices<Space>::count();
}

/// The number of the device that the calling thread uses: tensors are allocated there.
template <class Space = cuda>
int current_device() {
  static_assert(has_devices<Space> || must_hold<Space>,
                "tenon: this space has no devices here; for cuda compile this file with nvcc");
  return space_devices<Space>::current();
}

/// The number of the device on which a tensor or view lies.
template <class Tensor>
  requires has_devices<typename Tensor::space>
int device_of(const Tensor& elements) {
  return space_devices<typename Tensor::space>::of(elements.data());
}

/// Makes `device` the current device of the calling thread while the guard lives; then the one before is current again.
/// throws    device_error for a number that no device has
/// example   const tenon::device_guard second(1);
template <class Space = cuda>
class device_guard {
 public:
  explicit device_guard(int device) : outer_(current_device<Space>()), used_(device) {
    if (device < 0 || device >= device_count<Space>()) {
      throw device_error(compose_text("device_guard: device ", device, " of ", Space::name, ", expected one of ",
                                      device_count<Space>(), " devices"));
    }
    if (used_ != outer_) space_devices<Space>::use(used_);
  }
  device_guard(const device_guard&) = delete;
  device_guard& operator=(const device_guard&) = delete;
  ~device_guard() {
    if (used_ != outer_) space_devices<Space>::use(outer_);
  }

 private:
  int outer_, used_;
};

}  // namespace tenon
