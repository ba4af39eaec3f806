// tests/device/captured.cpp: memory that a captured function leaves behind.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/captured.hpp>

#include <vector>

#include "support/text_of.hpp"

namespace {

struct paper {
  static constexpr const char* name = "paper";
};

std::vector<std::pair<void*, std::size_t>> given_back;
void give_back(void* memory, std::size_t bytes) noexcept { given_back.emplace_back(memory, bytes); }

}  // namespace

TEST_CASE("what is freed serves what is allocated later, the smallest that has room", "[device]") {
  given_back.clear();
  char memory[3];
  {
    tenon::captured_work work(give_back, {});
    CHECK(work.take(1) == nullptr);
    work.keep(memory, 300);
    work.keep(memory + 1, 100);
    work.keep(memory + 2, 200);
    CHECK(work.take(301) == nullptr);
    CHECK(work.take(100) == memory + 1);
    CHECK(work.take(100) == memory + 2);
    work.keep(memory + 1, 100);
    CHECK(given_back.empty());
    CHECK(std::vector(work.used.begin(), work.used.end()) ==
          std::vector<const void*>{memory, memory + 1, memory + 2, memory + 1});
  }
  CHECK(given_back.size() == 2);
  CHECK(given_back.front() == std::pair<void*, std::size_t>(memory, 300));
  CHECK(given_back.back() == std::pair<void*, std::size_t>(memory + 1, 100));
}

TEST_CASE("the workspace goes before the memory that it may give back", "[device]") {
  given_back.clear();
  {
    tenon::captured_work work(give_back, {});
    work.workspace = &work;
    work.free_workspace = [](void* own) { static_cast<tenon::captured_work*>(own)->keep(own, 5); };
  }
  CHECK(given_back.size() == 1);
}

TEST_CASE("a captured function works on one device", "[device]") {
  tenon::captured_work work(give_back, {nullptr, 2});
  const char memory[1] = {};
  work.note_use(memory, 2);
  CHECK(std::vector(work.used.begin(), work.used.end()) == std::vector<const void*>{memory});
  CHECK(tenon_test::text_of<tenon::capture_error>([&] { work.note_use(memory, 1); }) ==
        "capture: work on device 1 within a captured function, which was captured on device 2; capture a graph of each "
        "device");
}

TEST_CASE("a thread captures one function of a space at a time", "[device]") {
  tenon::captured_work work(give_back, {}), other(give_back, {});
  tenon::refuse_in_capture<paper>("a copy", "none");
  {
    const tenon::capture_scope<paper> scope(work);
    CHECK(tenon::thread_capture<paper>() == &work);
    CHECK(tenon_test::text_of<tenon::capture_error>([&] { const tenon::capture_scope<paper> inner(other); }) ==
          "capture: this thread captures already; a captured function cannot capture another");
    CHECK(tenon::thread_capture<paper>() == &work);
    CHECK(tenon_test::text_of<tenon::capture_error>([] {
            tenon::refuse_in_capture<paper>("a value is read", "read it later");
          }) == "capture: a value is read within a captured function, of memory of paper; read it later");
  }
  CHECK(tenon::thread_capture<paper>() == nullptr);
}
