// tests/cuda_calls/calls.cpp: what Tenon asks of CUDA, and in which order, against a model of streams.
// A C++ compiler sees what nvcc would, up to kernels, whose statements are made of their parts here. No GPU is asked.
// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <cstring>
#include <functional>
#include <map>
#include <thread>

#include "cuda_calls/model.hpp"
#include "support/text_of.hpp"

#define __CUDACC__ 1
#include <tenon/core/tensor.hpp>
#include <tenon/data/space_batches.hpp>
#include <tenon/data/tensor_dataset.hpp>
#include <tenon/device/graph.hpp>

namespace {

using tenon::cuda;
using tenon::rank;
using tenon_test::model;
using vector = tenon::tensor<float, rank<1>, cuda>;
using staging = tenon::tensor<float, rank<1>, tenon::pinned>;
using numbers = std::vector<std::string>;

/// What a statement of these tensors leaves behind, without its kernel.
template <class... Tensors>
void run_statement(const Tensors&... used) {
  if (tenon::space_devices<cuda>::are_watched()) (tenon::space_devices<cuda>::note(used.data()), ...);
  CHECK(model().work(tenon::current_stream(), {used.data()...}) == cudaSuccess);
}

/// What the model found since the last question.
numbers faults() { return std::exchange(model().faults, numbers{}); }

}  // namespace

TEST_CASE("tensors are freed after every stream that used them, and the host does not wait", "[cuda_calls]") {
  const tenon::stream first, second;
  const int waits = model().waits;
  tenon::event ready;
  {
    vector everywhere({100});
    run_statement(everywhere);
    ready.record();
    tenon::with_stream(first, [&] {
      ready.hold();
      run_statement(everywhere);
    });
    tenon::with_stream(second, [&] {
      ready.hold();
      run_statement(everywhere);
      const vector own({5});
      run_statement(own, everywhere);
    });
    run_statement(everywhere);
  }
  CHECK(model().blocks.empty());
  CHECK(faults() == numbers{});
  CHECK(model().waits == waits);
}

TEST_CASE("the model finds memory that is freed too early", "[cuda_calls]") {
  const tenon::stream own;
  {
    const vector x({100});
    tenon::event ready;
    ready.record();
    ready.hold(own.handle());
    tenon::with_stream(own, [&] { CHECK(model().work(tenon::current_stream(), {x.data()}) == cudaSuccess); });
  }
  CHECK(faults() == numbers{"freed before its use"});
}

TEST_CASE("a stream that goes leaves its work to the next one of its device", "[cuda_calls]") {
  vector x;
  for (int round = 0; round < 3; ++round) {
    const tenon::stream own;
    x = tenon::with_stream(own, [] { return vector({10}); });
    tenon::with_stream(own, [&] { run_statement(x); });
  }
  const auto made = model().stream_devices.size();
  const tenon::stream next;
  CHECK(model().stream_devices.size() == made);
  const tenon::device_guard<cuda> other(1);
  const tenon::stream elsewhere;
  CHECK(model().stream_devices.size() == made + 1);
  CHECK(elsewhere.device() == 1);
  CHECK(faults() == numbers{});
}

TEST_CASE("copies from and to page-locked memory are waited for where it is touched", "[cuda_calls]") {
  staging source({4}), target({4});
  CHECK(model().locked.size() == 2);
  for (int i = 0; i < 4; ++i) source(i) = static_cast<float>(i);
  const int waits = model().waits;
  {
    const vector there = source.to<cuda>();
    target.copy_from(there);
    CHECK(model().waits == waits);
  }
  CHECK(target(3) == 3);
  CHECK(model().waits == waits + 1);
  CHECK(target(2) == 2);
  CHECK(model().waits == waits + 1);
  source(0) = 1;
  CHECK(model().waits == waits + 2);
  const auto ordinary = source.to<cuda>().to<tenon::host>();
  CHECK(ordinary(0) == 1);
  CHECK(model().waits == waits + 3);
  {
    const vector there = staging({4}).to<cuda>();  // freed while it is read
    CHECK(model().waits == waits + 4);
  }
  CHECK(faults() == numbers{});
}

TEST_CASE("a graph's memory is allocated beside it, and freed after its launches", "[cuda_calls]") {
  const tenon::stream own;
  const int waits = model().waits;
  {
    vector x({10}), y({10});
    staging next({10});
    x.copy_from(next);
    int allocations = model().allocations;
    const auto graph = tenon::capture([&] {
      x.copy_from(next);
      for (tenon::index count : {10, 5}) {
        const vector temporary({count});
        run_statement(x, temporary);
        run_statement(temporary, y);
      }
      const staging unused({10});
    });
    CHECK(model().allocations == allocations + 1);
    CHECK(model().captured == nullptr);
    CHECK(model().mode == cudaStreamCaptureModeThreadLocal);
    CHECK(model().graphs == 0);
    allocations = model().allocations;
    graph.launch();
    tenon::with_stream(own, [&] { graph.launch(); });
    CHECK(model().allocations == allocations);
    CHECK(model().waits == waits + 1);  // for the copy before
    next(0) = 1;
    CHECK(model().waits == waits + 3);
  }
  CHECK(faults() == numbers{});
  CHECK(model().blocks.empty());
}

TEST_CASE("a graph's memory that no statement names is freed after its launches, too", "[cuda_calls]") {
  const tenon::stream own;
  {
    const auto graph = tenon::capture([] {
      const vector scratch({10});
      CHECK(model().work(tenon::current_stream(), {scratch.data()}) == cudaSuccess);
    });
    tenon::with_stream(own, [&] { graph.launch(); });
  }
  CHECK(faults() == numbers{});
  CHECK(model().blocks.empty());
}

TEST_CASE("memory that a captured function hands out is freed after the graph's launches, too", "[cuda_calls]") {
  const tenon::stream own;
  vector made;
  const auto graph = tenon::capture([&] {
    made = vector({10});
    CHECK(model().work(tenon::current_stream(), {made.data()}) == cudaSuccess);
  });
  tenon::with_stream(own, [&] { graph.launch(); });
  made = vector();
  CHECK(faults() == numbers{});
}

TEST_CASE("a function that fails ends its capture", "[cuda_calls]") {
  vector x({10});
  const cudaStream_t outer = tenon::current_stream();
  CHECK_THROWS_AS(tenon::capture([&] {
                    run_statement(x);
                    const auto here = x.to<tenon::host>();
                  }),
                  tenon::capture_error);
  CHECK(model().captured == nullptr);
  CHECK(model().graphs == 0);
  CHECK(tenon::current_stream() == outer);
  CHECK(faults() == numbers{});
}

TEST_CASE("devices: each has its streams, copies cross, memory goes where it came from", "[cuda_calls]") {
  const int waits = model().waits;
  {
    vector here({3});
    run_statement(here);
    const tenon::stream own;
    vector there;
    {
      const tenon::device_guard second(1);
      CHECK(tenon::current_stream() == nullptr);
      there.copy_from(here);
      CHECK(tenon::device_of(there) == 1);
      run_statement(there);
    }
    here.copy_from(there);
    tenon::with_stream(own, [&] {
      here.copy_from(there);
      const tenon::device_guard second(1);
      CHECK(tenon::device_of(here) == 0);
      CHECK(tenon::device_of(here.to<cuda>()) == 1);
    });
    CHECK(model().peer_copies == 4);
    CHECK(tenon::current_device() == 0);
  }
  CHECK(faults() == numbers{});
  CHECK(model().blocks.empty());
  CHECK(model().waits == waits);
}

TEST_CASE("too little memory is told after one wait, and leaves nothing behind", "[cuda_calls]") {
  model().room = 100;
  const auto in_use = tenon::blocks_of<cuda>().count();
  const int waits = model().waits;
  CHECK(tenon_test::text_of<tenon::out_of_memory>([] { vector vast({26}); }) ==
        "allocate: 104 bytes on device 0 of cuda: 100 of its 999 bytes are free");
  CHECK(model().waits == waits + 1);
  CHECK(model().last == cudaSuccess);
  CHECK(tenon::blocks_of<cuda>().count() == in_use);
  model().room = std::size_t{1} << 40;
}

TEST_CASE("too little memory waits for what other streams have freed, and then serves", "[cuda_calls]") {
  const tenon::stream own;
  tenon::with_stream(own, [] { const vector freed_on_own({20}); });
  {
    const vector freed_on_default({20});
  }
  const tenon::stream third;
  model().room = 100;
  const int waits = model().waits;
  tenon::with_stream(third, [] { const vector needs_both({25}); });
  CHECK(model().waits == waits + 1);
  model().room = std::size_t{1} << 40;
  CHECK(faults() == numbers{});
}

TEST_CASE("too little memory leaves alone what another thread captures", "[cuda_calls]") {
  const vector x({10});
  const tenon::stream own;
  const auto graph = tenon::capture([&] {
    run_statement(x);
    std::thread([] {
      model().room = 100;
      CHECK(tenon_test::has(tenon_test::text_of<tenon::out_of_memory>([] { vector vast({26}); }), "104 bytes"));
      model().room = std::size_t{1} << 40;
    }).join();
  });
  graph.launch();
  CHECK(faults() == numbers{});
}

TEST_CASE("a kernel that failed is told with the latest launches", "[cuda_calls]") {
  std::thread([] {
    tenon::remember_launch("guilty");
    model().failure = cudaErrorIllegalAddress;
    const auto text = tenon_test::text_of<tenon::cuda_error>([] { tenon::synchronize(); });
    CHECK(tenon_test::has(text,
                          "cudaStreamSynchronize: a name (700), a text; a kernel started earlier failed, this "
                          "thread's latest were: guilty; with CUDA_LAUNCH_BLOCKING=1"));
    tenon::remember_launch("innocent");
    CHECK(tenon_test::has(tenon_test::text_of<tenon::cuda_error>([] { tenon::synchronize(); }), "were: guilty;"));
    model().failure = cudaSuccess;
    CHECK_FALSE(tenon_test::has(
        tenon_test::text_of<tenon::cuda_error>([] { tenon::check_cuda("call", cudaErrorInvalidValue); }), "guilty"));
  }).join();
}

TEST_CASE("a call without a driver says that there may be no GPU", "[cuda_calls]") {
  const auto text =
      tenon_test::text_of<tenon::cuda_error>([] { tenon::check_cuda("cudaGetDevice", cudaErrorInsufficientDriver); });
  CHECK(tenon_test::has(text, "cudaGetDevice: a name (35), a text; there is no GPU, or no driver for it, or an older"));
}

TEST_CASE("batches are copied beside the work on those before, from memory that is not overwritten", "[cuda_calls]") {
  const tenon::data::tensor_dataset examples(tenon::tensor<float, rank<2>>({9, 4}), tenon::tensor<float, rank<1>>({9}));
  tenon::data::loader loader(examples, {.batch = 2, .workers = 0});
  for (tenon::index epoch = 0; epoch < 2; ++epoch) {
    tenon::index seen = 0;
    std::map<const void*, tenon_test::clock> worked;  // what the work on a batch has used, by its memory
    tenon_test::clock before;
    for (const auto& [x, y] : tenon::data::batches_in<cuda>(loader, epoch)) {
      const tenon_test::clock copied = model().find(x.data())->uses;
      CHECK(model().covers(model().streams[model().stream(tenon::current_stream())], copied));
      for (const auto& [stream, time] : copied) {
        if (stream == model().stream(tenon::current_stream())) continue;
        CHECK(model().covers(model().streams[stream], worked[x.data()]));
        if (seen != 0) CHECK(!model().covers(model().streams[stream], before));
      }
      run_statement(x, y);
      before = worked[x.data()] = model().find(x.data())->uses;
      seen += y.extent(0);
    }
    CHECK(seen == 9);
  }
  CHECK(faults() == numbers{});
  CHECK(model().blocks.empty());
}
