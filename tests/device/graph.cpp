// tests/device/graph.cpp: capturing a function's kernels and copies, and starting them again.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/graph.hpp>

#include <thread>

#include "device/spaces.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon_test::has;
using tenon_test::text_of;

struct add_one {
  static constexpr const char* name = "add_one";
  int* values;
  int count;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    if (device.thread() < count) values[device.thread()] += 1;
  }
};

template <class Space>
void add_to(int* values, int count) {
  tenon::launch<Space>({.grid = {1}, .block = 32}, add_one{values, count});
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a graph does what its function did, when launched", "[device]", tenon_test::kernel_spaces) {
  const tenon_test::device_copy<TestType, int> values({1, 2, 3}), copied({0, 0, 0});
  const auto graph = tenon::capture<TestType>([&] {
    add_to<TestType>(values.data(), 3);
    TestType::copy(copied.data(), values.data(), 3 * sizeof(int));
    add_to<TestType>(values.data(), 2);
  });
  CHECK(values.values() == std::vector<int>{1, 2, 3});
  CHECK(graph.kernels() == 2);
  const tenon::launch_counter launches;
  graph.launch();
  CHECK(values.values() == std::vector<int>{3, 4, 4});
  CHECK(copied.values() == std::vector<int>{2, 3, 4});
  graph.launch();
  CHECK(values.values() == std::vector<int>{5, 6, 5});
  CHECK(copied.values() == std::vector<int>{4, 5, 5});
  CHECK(launches.count() == 2);
  CHECK(has(tenon::recent_launches(), "graph"));
}

TEMPLATE_LIST_TEST_CASE("a captured function says what it cannot do", "[device]", tenon_test::kernel_spaces) {
  const tenon_test::device_copy<TestType, int> values({1});
  int number = 0;
  const auto captured = [&](auto body) {
    const std::string text = text_of<tenon::capture_error>([&] { tenon::capture<TestType>(body); });
    CHECK(tenon::thread_capture<TestType>() == nullptr);
    return text;
  };
  const std::string of = tenon::compose_text(" within a captured function, of memory of ", TestType::name, "; ");
  CHECK(captured([&] { TestType::copy_to_host(&number, values.data(), sizeof(int)); }) ==
        "capture: a value is read on the host" + of + "read it after the graph's launch");
  CHECK(captured([&] { TestType::copy_from_host(values.data(), &number, sizeof(int)); }) ==
        "capture: a copy from the host" + of + "copy before, or from a tensor of the space pinned");
  const auto graph = tenon::capture<TestType>([&] { add_to<TestType>(values.data(), 1); });
  CHECK(captured([&] { graph.launch(); }) == "capture: a graph is launched" + of + "call its function instead");
  CHECK(has(captured([&] { tenon::capture<TestType>([] {}); }), "cannot capture another"));
  CHECK(captured([&] {
          add_to<TestType>(values.data(), 1);
          tenon::count_launch("a loop");
        }) == tenon::compose_text("capture: 1 loops of the host within a captured function, which a launch would not "
                                  "repeat; only statements on tensors of ",
                                  TestType::name, " are captured"));
  graph.launch();
  CHECK(values.values() == std::vector<int>{2});
}

TEMPLATE_LIST_TEST_CASE("an exception leaves a captured function with nothing captured", "[device]",
                        tenon_test::kernel_spaces) {
  const tenon_test::device_copy<TestType, int> values({1});
  const auto in_use = tenon::blocks_of<TestType>().count();
  CHECK_THROWS_AS(tenon::capture<TestType>([&] {
                    add_to<TestType>(values.data(), 1);
                    TestType::deallocate(TestType::allocate(100), 100);
                    throw std::runtime_error("mine");
                  }),
                  std::runtime_error);
  CHECK(tenon::blocks_of<TestType>().count() == in_use);
  add_to<TestType>(values.data(), 1);
  CHECK(values.values() == std::vector<int>{2});
}

TEMPLATE_LIST_TEST_CASE("a graph can be moved, and launched by another thread", "[device]", tenon_test::kernel_spaces) {
  const tenon_test::device_copy<TestType, int> values({1});
  auto graph = tenon::capture<TestType>([&] { add_to<TestType>(values.data(), 1); });
  const auto moved = std::move(graph);
  std::thread([&] {
    moved.launch();
    CHECK(values.values() == std::vector<int>{2});
  }).join();
  CHECK(graph.kernels() == 0);
  CHECK(tenon_test::text_of<tenon::error>([&] { graph.launch(); }) ==
        "graph: launch: it was moved from, and has nothing to launch");
}

#if defined(__CUDACC__)
TEST_CASE("a thread that finds too little memory leaves the capture of another alone", "[device]") {
  if (tenon::cuda_device_count() == 0) return;
  const tenon_test::device_copy<tenon::cuda, int> values({1});
  const tenon::stream joined;
  tenon::synchronize();
  const auto graph = tenon::capture<tenon::cuda>([&] {
    tenon::event before, behind;
    before.record();
    tenon::with_stream(joined, [&] {
      before.hold();
      add_to<tenon::cuda>(values.data(), 1);
      behind.record();
    });
    std::thread([] { CHECK_THROWS_AS(tenon::cuda::allocate(std::size_t{1} << 50), tenon::out_of_memory); }).join();
    behind.hold();
  });
  graph.launch();
  CHECK(values.values() == std::vector<int>{2});
}

TEST_CASE("what a graph keeps is freed behind its launches, on whatever stream", "[device]") {
  if (tenon::cuda_device_count() == 0) return;
  const tenon_test::device_copy<tenon::cuda, int> values({1});
  tenon::synchronize();
  const tenon::stream other;
  {
    const auto graph = tenon::capture<tenon::cuda>([&] {
      void* const scratch = tenon::cuda::allocate(sizeof(int));  // no statement names it
      tenon::cuda::set_zero(scratch, sizeof(int));
      add_to<tenon::cuda>(static_cast<int*>(scratch), 1);
      add_to<tenon::cuda>(values.data(), 1);
      tenon::cuda::deallocate(scratch, sizeof(int));
    });
    tenon::with_stream(other, [&] { graph.launch(); });
  }
  other.synchronize();
  CHECK(values.values() == std::vector<int>{2});
}
#endif
