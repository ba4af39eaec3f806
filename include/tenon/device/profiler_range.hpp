// tenon/device/profiler_range.hpp: a stretch of the program that profilers show by name.
// NVTX 3 comes with the CUDA toolkit as headers alone; without it, or with TENON_NVTX=0, a range is nothing.
// Floor 1: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>
#if TENON_NVTX != 0
#include <nvtx3/nvToolsExt.h>
#endif

namespace tenon {

#if TENON_NVTX != 0
/// A range that profilers show as `name`, in the domain "tenon", as long as this object lives. `name` is copied.
/// cost      a load and a branch while no profiler is attached
class profiler_range {
 public:
  explicit profiler_range(const char* name) {
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = name;
    nvtxDomainRangePushEx(domain(), &attributes);
  }
  profiler_range(const profiler_range&) = delete;
  profiler_range& operator=(const profiler_range&) = delete;
  ~profiler_range() { nvtxDomainRangePop(domain()); }

 private:
  static nvtxDomainHandle_t domain() {
    static const nvtxDomainHandle_t created = nvtxDomainCreateA("tenon");
    return created;
  }
};
#else
class profiler_range {
 public:
  explicit profiler_range(const char*) {}
};
#endif

}  // namespace tenon
