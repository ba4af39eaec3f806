// tests/train/parameter_table.cpp: the parameters of a network as one list of chunks.
// Chunks cover every element once; what is kept of it stays when parameters move.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/parameter_table.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

template <class Space, class T>
std::vector<T> table_elements(const T* from, std::size_t count) {
  std::vector<T> found(count);
  Space::copy_to_host(found.data(), from, count * sizeof(T));
  return found;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("chunks cover parameters of any size", "[parameter_table]", tenon_test::spaces) {
  const auto memory = tenon::zeros<float, TestType>(tenon::rank<1>(20000));
  tenon::tensor<float, tenon::rank<1>, TestType> values = memory, gradients = memory;
  tenon::train::parameter_table<float, TestType> table;
  table.take({}, 2);
  CHECK(table.chunks().count == 0);
  CHECK(table.steps() == 0);
  table.take({{values.data(), gradients.data(), 1, 0},
              {values.data() + 1, gradients.data() + 1, 0, 0},
              {values.data() + 1, gradients.data() + 1, 4096, 3},
              {values.data() + 4097, gradients.data() + 4097, 8193, 1}},
             2);
  const auto list = table.chunks();
  REQUIRE(list.count == 5);
  const auto chunks = table_elements<TestType>(list.chunks, 5);
  std::vector<int> sizes, groups, parameters, firsts, counts;
  tenon::index next = 0;
  for (const auto& each : chunks) {
    CHECK(each.value == values.data() + next);
    CHECK(each.gradient == gradients.data() + next);
    CHECK(each.state % 64 == (each.parameter == 3 ? (each.value - values.data() - 4097) % 64 : 0));
    next += each.size;
    sizes.push_back(each.size), groups.push_back(each.group), parameters.push_back(each.parameter);
    firsts.push_back(each.first), counts.push_back(each.count);
  }
  CHECK(sizes == std::vector<int>{1, 4096, 4096, 4096, 1});
  CHECK(groups == std::vector<int>{0, 3, 1, 1, 1});
  CHECK(parameters == std::vector<int>{0, 2, 3, 3, 3});
  CHECK(firsts == std::vector<int>{0, 1, 2, 2, 2});
  CHECK(counts == std::vector<int>{1, 1, 3, 3, 3});
  CHECK(table.state_of(0, 1) - table.state_of(0, 0) == list.plane);
  CHECK(table.state_of(3, 0) - list.state == chunks[2].state);
  const auto state = table_elements<TestType>(list.state, static_cast<std::size_t>(list.plane * 2));
  CHECK(state == std::vector<float>(state.size(), 0.0f));
}

TEMPLATE_LIST_TEST_CASE("what is kept stays when parameters move", "[parameter_table]", tenon_test::spaces) {
  tenon::tensor<float, tenon::rank<1>, TestType> here(tenon::rank<1>(7)), there(tenon::rank<1>(7));
  tenon::train::parameter_table<float, TestType> table;
  table.take({{here.data(), here.data(), 7, 0}}, 1);
  table.set_steps(41);
  const auto* state = table.state_of(0, 0);
  const auto allocated = tenon::blocks_of<TestType>().added();
  table.take({{there.data(), here.data(), 7, 0}}, 1);
  CHECK(tenon::blocks_of<TestType>().added() == allocated);
  CHECK(table.steps() == 41);
  CHECK(table.state_of(0, 0) == state);
  CHECK(table_elements<TestType>(table.chunks().chunks, 1)[0].value == there.data());
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { table.take({{there.data(), here.data(), 6, 0}}, 1); }) ==
        "optimizer: 1 parameters of other sizes than the 1 of its first step; an optimizer belongs to one network");
}

TEMPLATE_LIST_TEST_CASE("parameters lie on the current device", "[parameter_table]", tenon_test::kernel_spaces) {
  if (tenon::device_count<TestType>() < 2) return;
  tenon::tensor<float, tenon::rank<1>, TestType> here(tenon::rank<1>(7));
  tenon::train::parameter_table<float, TestType> table;
  table.take({{here.data(), here.data(), 7, 0}}, 1);
  table.note_use();
  const tenon::device_guard<TestType> second(1);
  const auto text = tenon_test::text_of<tenon::device_error>([&] { table.note_use(); });
  CHECK(text.starts_with("optimizer: a parameter or its state lies on device 0 of "));
}
