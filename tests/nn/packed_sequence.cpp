// tests/nn/packed_sequence.cpp: sequences of different lengths, packed and unpacked.
// PyTorch's own example, lengths in any order, and what does not fit.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/packed_sequence.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

TEMPLATE_LIST_TEST_CASE("sequences are packed step by step, the longest first", "[packed_sequence]",
                        tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(rank<3>(3, 2, 2));  // [time, batch, features]
  const auto packed = nn::pack_padded_sequence(x, {3, 1});
  CHECK(numbers_of(packed.rows) == std::vector<double>{0, 1, 2, 3, 4, 5, 8, 9});
  CHECK(packed.layout->batch_sizes == std::vector<tenon::index>{2, 1, 1});
  const auto padded = nn::pad_packed_sequence(packed, {.padding_value = -1});
  CHECK(numbers_of(padded.sequences) == std::vector<double>{0, 1, 2, 3, 4, 5, -1, -1, 8, 9, -1, -1});
  CHECK(padded.lengths == std::vector<tenon::index>{3, 1});
}

TEMPLATE_LIST_TEST_CASE("lengths are sorted where this is allowed", "[packed_sequence]", tenon_test::spaces) {
  const nn::packing options{.batch_first = true, .enforce_sorted = false};
  const auto x = tenon_test::counting<float, TestType>(rank<3>(3, 2, 1));  // [batch, time, features]
  const auto packed = nn::pack_padded_sequence(x, {1, 2, 2}, options);
  CHECK(numbers_of(packed.rows) == std::vector<double>{2, 4, 0, 3, 5});
  CHECK(numbers_of(packed.layout->sorted) == std::vector<double>{1, 2, 0});
  CHECK(numbers_of(packed.layout->unsorted) == std::vector<double>{2, 0, 1});
  const auto padded = nn::pad_packed_sequence(packed, {.batch_first = true, .total_length = 3});
  CHECK(numbers_of(padded.sequences) == std::vector<double>{0, 0, 0, 2, 3, 0, 4, 5, 0});
}

TEMPLATE_LIST_TEST_CASE("expressions are packed, and no sequences, too", "[packed_sequence]", tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(rank<3>(2, 1, 1));
  CHECK(numbers_of(nn::pack_padded_sequence(x * 2 + 1, {2}).rows) == std::vector<double>{1, 3});
  const auto none = nn::pack_padded_sequence(tenon::zeros<float, TestType>(rank<3>(2, 0, 1)), {});
  CHECK(none.rows.size() == 0);
  CHECK(nn::pad_packed_sequence(none).sequences.size() == 0);
}

TEMPLATE_LIST_TEST_CASE("gradients of packing and unpacking are unpacked and packed", "[packed_sequence]",
                        tenon_test::spaces) {
  const auto x = tenon_test::counting<float, TestType>(rank<3>(2, 3, 1));  // [batch, time, features]
  const auto v = tenon::variable(x);
  const nn::packing options{.batch_first = true, .enforce_sorted = false, .padding_value = 9};
  const auto packed = nn::pack_padded_sequence(v * 1.0f, {1, 2}, options);
  const auto padded = nn::pad_packed_sequence(packed, {.padding_value = 9});  // [time, batch, features]
  CHECK(numbers_of<TestType>(padded.sequences) == std::vector<double>{0, 3, 9, 4});
  padded.sequences.backward(tenon_test::counting<float, TestType>(rank<3>(2, 2, 1)) + 1.0f);
  CHECK(numbers_of<TestType>(v.gradient()) == std::vector<double>{1, 0, 0, 2, 4, 0});
}

TEST_CASE("gradients of packed rows agree with differences", "[packed_sequence]") {
  auto x = tenon_test::drawn(rank<3>(4, 3, 2), 1);
  const auto weights = tenon_test::drawn(rank<3>(5, 3, 2), 2);
  const auto loss_of = [&](const auto& in) {
    const auto packed = nn::pack_padded_sequence(in, {2, 4, 1}, {.enforce_sorted = false});
    const nn::packed_sequence changed{tenon::traced(tenon::square(packed.rows)), packed.layout};
    const auto padded = nn::pad_packed_sequence(changed, {.padding_value = 3, .total_length = 5});
    return tenon::traced(tenon::sum(tenon::square(padded.sequences) * weights));
  };
  const auto v = tenon::variable(x);
  loss_of(v).backward();
  const auto value = [&] { return static_cast<double>(loss_of(x)); };
  CHECK(tenon_test::difference_from_slopes(x, v.gradient(), value, 1e-6, 1e-5) == "");
}

TEST_CASE("a total length below the longest sequence is refused", "[packed_sequence]") {
  const auto packed = nn::pack_padded_sequence(tenon_test::counting<float>(rank<3>(5, 2, 1)), {5, 2});
  const auto text = [&](tenon::index total) {
    return tenon_test::text_of<tenon::shape_error>([&] { nn::pad_packed_sequence(packed, {.total_length = total}); });
  };
  const std::string expected = ", expected at least 5, the time steps of the longest sequence";
  CHECK(text(4) == "pad_packed_sequence: total_length: 4" + expected);
  CHECK(text(-1) == "pad_packed_sequence: total_length: -1" + expected);
  CHECK(nn::pad_packed_sequence(packed, {.total_length = 5}).sequences.shape() == rank<3>(5, 2, 1));
}

TEST_CASE("lengths are of any integers; those that do not fit are refused", "[packed_sequence]") {
  const auto x = tenon_test::counting<float>(rank<3>(3, 2, 1));
  const auto text = [&](const std::vector<tenon::index>& lengths) {
    return tenon_test::text_of<tenon::shape_error>([&] { (void)nn::pack_padded_sequence(x, lengths); });
  };
  CHECK(numbers_of(nn::pack_padded_sequence(x, std::vector<int>{2, 1}).rows) == std::vector<double>{0, 1, 2});
  CHECK(text({3}) == "pack_padded_sequence: lengths: 1 of them, expected 2 as sequences in the batch");
  CHECK(text({4, 1}) == "pack_padded_sequence: lengths: 4, expected at least 1 and at most the 3 time steps");
  CHECK(text({1, 0}) == "pack_padded_sequence: lengths: 0, expected at least 1 and at most the 3 time steps");
  CHECK(text({1, 3}) == "pack_padded_sequence: lengths: do not descend; pass {.enforce_sorted = false} to sort them");
}
