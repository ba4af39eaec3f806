// tests/nn/hidden_parts.cpp: which members of a module hold layers where it does not look.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/hidden_parts.hpp>

#include <any>
#include <atomic>
#include <complex>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <variant>

#include <tenon/nn/linear.hpp>

#include "support/catch.hpp"

namespace nn = tenon::nn;
using nn::detail::hides_parts;
using nn::detail::is_closed_layer;
using nn::detail::is_plain_struct_of_parts;

namespace {

using hidden = nn::linear<2, 2>;

struct behind_numbers {
  int numbers[3];
  double more = 0;
  hidden layer;
};
struct in_a_struct {
  std::string name;
  behind_numbers inner;
};
struct of_its_own_kind {
  std::vector<of_its_own_kind> children;
  hidden layer;
};
struct holds_a_parameter {
  nn::parameter<float, tenon::shape<3>> own;
};
struct holds_a_pointer {
  std::unique_ptr<behind_numbers> owned;
};
struct on_a_base : in_a_struct {
  int number;
};

struct tree {
  std::vector<tree> children;
  int value;
};
struct holds_anything {
  std::any any;
  std::function<void()> function;
  std::function<void(hidden&)> call;
};
struct holds_others {
  std::atomic<int> count;
  std::mutex lock;
  tenon::tensor<float, tenon::rank<2>> table;
  std::complex<float> number;
  const hidden* read;
  int many[200];
};
struct visits_by_itself {
  hidden layer;
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    layer.visit_parameters(visitor);
  }
};
class with_a_constructor {
 public:
  with_a_constructor() : value_(1) {}
  int value() const { return value_; }

 private:
  int value_;
};
class with_a_private_layer {
 public:
  auto forward(const auto& x) { return layer_(x); }

 private:
  hidden layer_;
};
class with_a_chosen_forward : public with_a_private_layer {
 public:
  explicit with_a_chosen_forward(int) {}
  int forward(int x) const { return x; }
  int forward(float) const { return 0; }
};
class with_a_slope {
 public:
  explicit with_a_slope(double slope) : slope_(slope) {}
  auto forward(const auto& x) const { return x * slope_; }

 private:
  double slope_;
};
struct with_an_open_forward {
  std::string name;
  auto forward(const auto& x) const { return x; }
};

template <class... Members>
constexpr bool are_plain_structs = (is_plain_struct_of_parts<Members> && ...);
template <class... Members>
constexpr bool hide_parts = (hides_parts<Members> && ...);
template <class... Members>
constexpr bool are_left_alone = ((!is_plain_struct_of_parts<Members> && !hides_parts<Members>) && ...);
template <class... Members>
constexpr bool are_closed_layers = (is_closed_layer<Members> && ...);
template <class... Members>
constexpr bool are_no_closed_layers = (!is_closed_layer<Members> && ...);

}  // namespace

TEST_CASE("structs that are no modules and hold layers are found", "[hidden_parts]") {
  STATIC_REQUIRE(are_plain_structs<behind_numbers, in_a_struct, of_its_own_kind>);
  STATIC_REQUIRE(are_plain_structs<holds_a_parameter, holds_a_pointer, on_a_base>);
}

TEST_CASE("containers, pointers and tuples that hold layers are found", "[hidden_parts]") {
  STATIC_REQUIRE(hide_parts<std::optional<hidden>, std::unique_ptr<hidden>, std::shared_ptr<hidden>>);
  STATIC_REQUIRE(hide_parts<std::map<std::string, hidden>, std::map<int, behind_numbers>, std::deque<hidden>>);
  STATIC_REQUIRE(hide_parts<std::pair<int, hidden>, std::tuple<int, float, hidden>, tenon::tuple<int, hidden>>);
  STATIC_REQUIRE(hide_parts<std::variant<int, hidden>, std::variant<int, std::vector<hidden>>>);
  STATIC_REQUIRE(hide_parts<std::vector<std::unique_ptr<behind_numbers>>>);
}

TEST_CASE("what holds no layers is left alone", "[hidden_parts]") {
  STATIC_REQUIRE(are_left_alone<tree, holds_anything, holds_others, with_a_constructor, std::any>);
  STATIC_REQUIRE(are_left_alone<int, std::string, std::pair<int, int>, std::variant<int, float>, std::mutex>);
  STATIC_REQUIRE(are_left_alone<std::map<int, std::string>, tenon::tensor<float, tenon::rank<2>>>);
}

TEST_CASE("layers, parameters and what visits its parameters are no hidden parts", "[hidden_parts]") {
  STATIC_REQUIRE(are_left_alone<hidden, nn::parameter<float, tenon::shape<3>>, visits_by_itself>);
}

TEST_CASE("classes that have a forward and hide layers are found", "[hidden_parts]") {
  STATIC_REQUIRE(are_closed_layers<with_a_private_layer, with_a_chosen_forward>);
  STATIC_REQUIRE(are_no_closed_layers<with_a_slope, with_an_open_forward, with_a_constructor, visits_by_itself>);
  STATIC_REQUIRE(are_no_closed_layers<hidden, nn::parameter<float, tenon::shape<3>>, std::string, std::mutex, int>);
  STATIC_REQUIRE(are_no_closed_layers<std::function<void(hidden&)>, std::vector<int>, std::any, holds_others>);
}
