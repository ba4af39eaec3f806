// tenon/nn/layer.hpp: what a layer is, and its parameters.
// A layer turns an input into an expression (`forward`) and an output's gradient into the input's (`backward`).
// Floor 7: may include base, core, device, expr, plan, evaluate, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string_view>
#include <tenon/base/version_counter.hpp>
#include <tenon/device/launch_number.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <tenon/nn/forward_attempt.hpp>
#include <tuple>

namespace tenon::nn {

/// What `to` moves layers and networks to: another memory space, or another floating type of elements.
template <class To>
concept space_or_element = memory_space<To> || (dtype<To> && is_floating<To>);
template <space_or_element To, memory_space Space>
using space_after = std::conditional_t<memory_space<To>, To, Space>;
template <space_or_element To, dtype T>
using element_after = std::conditional_t<memory_space<To>, T, To>;

/// The tensor, copied to another space or element type.
/// accuracy  elements are rounded to the nearest of another type
template <space_or_element To, dtype T, shape_type Shape, memory_space Space>
tensor<element_after<To, T>, Shape, space_after<To, Space>> moved_to(const tensor<T, Shape, Space>& value) {
  if constexpr (memory_space<To>) return value.template to<To>();
  else if (value.data() == nullptr) return tensor<To, Shape, Space>(value.shape());
  else return tensor<To, Shape, Space>(cast<To>(value));
}

namespace detail {

/// Whether the host sees that nobody wrote a tensor. All bits of its first element are ones then: a NaN that no
/// computation makes.
template <dtype T, memory_space Space>
inline constexpr bool marks_unwritten = is_floating<T> && Space::host_accessible;

template <dtype T, shape_type Shape, memory_space Space>
tensor<T, Shape, Space> unwritten_tensor(const Shape& extents = {}) {
  tensor<T, Shape, Space> made(extents);
  if constexpr (marks_unwritten<T, Space>) {
    if (made.size() != 0) std::memset(static_cast<void*>(made.data()), 0xFF, sizeof(T));
  }
  return made;
}

}  // namespace detail

/// A trained tensor and the gradient that backward passes left for it. In an expression it stands for its value, and
/// gradients flow to it. Calls refuse a value that nobody wrote, in memory that the host sees.
/// example   nn::parameter<float, shape<64>> scale; ... auto forward(const auto& x) { return x * scale; }
template <dtype T, shape_type Shape, memory_space Space = host>
struct parameter {
  using kind = leaf_kind;
  using element = T;
  using space = Space;
  using shape_type = Shape;
  static constexpr tuple<> operands{};

  tensor<T, Shape, Space> value = detail::unwritten_tensor<T, Shape, Space>();
  tensor<T, Shape, Space> gradient{};
  bool has_gradient = false;  ///< whether `backward` adds to the gradient; else it begins anew
  bool is_frozen = false;     ///< whether it stays as it is: backward passes leave no gradient, optimizers pass it by

  version_counter version{};  ///< of its value: steps of optimizers, loading and assignments of the parameter count

  const Shape& shape() const { return value.shape(); }

  template <space_or_element To>
  parameter<element_after<To, T>, Shape, space_after<To, Space>> to() const {
    return {moved_to<To>(value), moved_to<To>(gradient), has_gradient, is_frozen};
  }
};

namespace detail {

[[noreturn, gnu::noinline]] inline void refuse_unwritten(const char* owner, std::string_view name) {
  throw error(compose_text(owner, ": its ", name, " was never written; call initialise(seed), or load weights"));
}
[[noreturn, gnu::noinline]] inline void refuse_moved_away(const char* owner, std::string_view name) {
  throw error(compose_text(owner, ": its ", name, " was moved away; call what it was moved to"));
}
/// Whether a tensor of static extents gave its elements to another. One of dynamic extents has none then.
template <dtype T, shape_type Shape, memory_space Space>
bool is_moved_away(const tensor<T, Shape, Space>& given) {
  return given.data() == nullptr && given.size() != 0;
}
/// Whether nobody wrote a parameter or buffer, as far as the host sees.
template <dtype T, shape_type Shape, memory_space Space>
bool is_unwritten(const tensor<T, Shape, Space>& given) {
  if constexpr (Shape::rank >= 2 && Shape::dynamic_rank == Shape::rank) {
    if (given.shape() == Shape{}) return true;
  }
  if constexpr (marks_unwritten<T, Space>) {
    constexpr unsigned char ones[] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    static_assert(sizeof(T) <= sizeof ones);
    return given.data() != nullptr && std::memcmp(given.data(), ones, sizeof(T)) == 0;
  }
  return false;
}
/// Whether nobody wrote a parameter. In memory that only a device reads, it counts as unwritten.
template <dtype T, class Shape, class Space>
bool is_unwritten_parameter(const parameter<T, Shape, Space>& given) {
  return !marks_unwritten<T, Space> || given.value.data() == nullptr || is_unwritten(given.value);
}
/// Draws a layer that nobody wrote, or the parts of a list or module that nobody wrote. Returns whether it drew all.
/// A layer is drawn as a whole, where it has no parameters, or any that nobody wrote.
template <class Layer>
bool draw_unwritten(Layer& layer, std::uint64_t seed) {
  if constexpr (requires { layer.initialise_unwritten(seed); }) {
    return layer.initialise_unwritten(seed);
  } else {
    bool has_any = false, is_missing = false;
    layer.visit_parameters([&](const auto&, const auto& each) {
      has_any = true, is_missing = is_missing || is_unwritten_parameter(each);
    });
    if (has_any && !is_missing) return false;
    layer.initialise(seed);
    return true;
  }
}
/// throws    error where a parameter or buffer was moved away, or nobody wrote it, as far as the host sees
template <dtype T, shape_type Shape, memory_space Space>
void must_be_written(const char* owner, std::string_view name, const tensor<T, Shape, Space>& given) {
  if (is_moved_away(given)) refuse_moved_away(owner, name);
  if (is_unwritten(given)) refuse_unwritten(owner, name);
}

}  // namespace detail

/// A parameter of these extents that nobody wrote yet; without memory where the host could not see that.
template <dtype T, memory_space Space, shape_type Shape>
parameter<T, Shape, Space> unwritten_parameter(const Shape& extents) {
  if constexpr (!detail::marks_unwritten<T, Space>) return {};
  else return {detail::unwritten_tensor<T, Shape, Space>(extents), zeros<T, Space>(extents)};
}

namespace detail {
/// Out of line, as parameters of all extents share it.
template <dtype T, memory_space Space>
[[gnu::noinline]] void draw_uniformly(const view<T, rank<1>, Space>& elements, std::uint64_t seed, float bound) {
  elements = uniform<T>(elements.shape(), seed, -bound, bound);
}
}  // namespace detail

/// A parameter drawn uniformly from [-bound, bound), its gradient zero.
template <dtype T, memory_space Space, shape_type Shape>
parameter<T, Shape, Space> uniform_parameter(const Shape& shape, std::uint64_t seed, float bound) {
  tensor<T, Shape, Space> value(shape);
  detail::draw_uniformly(in_order(value), seed, bound);
  return {std::move(value), zeros<T, Space>(shape)};
}

namespace detail {
/// A seed of `number`; within a captured function each launch draws by another.
template <memory_space Space>
random_seed seed_of_pass(std::uint64_t number) {
  if constexpr (has_devices<Space>) return {number, number_of_launch<Space>()};
  else return number;
}
}  // namespace detail

/// The bound of PyTorch's default initialisation of linear and convolution layers: 1 / sqrt(fan in).
/// source    He and others 2015 with a = sqrt(5), as torch.nn.Linear and torch.nn.Conv2d do
inline float default_bound(index fan_in) { return 1.0f / std::sqrt(static_cast<float>(fan_in)); }

/// A row of one value for each channel, so that it repeats over [batch, channels, ...] of `Rank` axes.
template <int Rank, class Row>
auto over_channels(Row&& row) {
  if constexpr (Rank <= 2) return as_node(std::forward<Row>(row));
  else return over_channels<Rank - 1>(new_axis<-1>(std::forward<Row>(row)));
}

/// Facts that compile-time messages carry.
template <index Extent>
struct input_has;
template <index Extent>
struct layer_takes;

/// Checks that axis `Axis` of an input has the extent that a layer takes, at compile time where both are static;
/// `expected` is what a layer of run-time extents takes.
/// throws    shape_error naming layer, axis and both extents
template <class Layer, int Axis, index Taken, shape_type Input>
constexpr auto check_input(const Input& input,
                           index expected = Taken) {  // auto: compilers read it here, before a layer's products
  constexpr index given = Input::static_extent(Axis);
  static_assert(given == dyn || Taken == dyn || given == Taken ||
                    must_hold<Layer, at_axis<Axis>, input_has<given>, layer_takes<Taken>>,
                "tenon: this layer does not fit its input; the extents must be equal");
  if (input.extent(Axis) != expected) {
    throw shape_error(compose_text(Layer::name, ": axis ", Axis, ": extent ", input.extent(Axis), ", expected ",
                                   expected, " (input ", input.to_array(), ")"));
  }
}

namespace detail {
/// Checks that a size given to the constructor agrees with the type's, which may be `dyn`.
[[gnu::noinline]] inline void check_size(const char* name, const char* what, index given, index known) {
  if (known == dyn || known == given) return;
  throw shape_error(compose_text(name, ": ", what, ": ", given, ", expected ", known, " as its type says"));
}
template <class Layer>
void check_size(const char* what, index given, index known) {
  check_size(Layer::name, what, given, known);
}
}  // namespace detail

/// Checks the rank of an input.
template <class Layer, int Taken, shape_type Input>
consteval void check_rank() {
  static_assert(Input::rank == Taken || must_hold<Layer, constant<Input::rank>, constant<Taken>>,
                "tenon: this layer takes inputs of another rank");
}

/// Stands for a gradient that is not wanted, such as that of a network's input.
struct not_wanted {};
template <class Destination>
inline constexpr bool is_wanted = !std::is_same_v<Destination, not_wanted>;

/// Whether the statements of a layer are the same for all its sizes, as it says by `shares_statements`: its passes are
/// given elements whose extents are known at run time alone, so that layers of all sizes share what is compiled.
template <class Layer>
inline constexpr bool has_shared_statements = false;
template <class Layer>
  requires(Layer::shares_statements)
inline constexpr bool has_shared_statements<Layer> = true;

namespace detail {

/// Elements as the statements of a layer take them.
template <class Layer, class Elements>
auto elements_for(const Elements& elements) {
  if constexpr (has_shared_statements<Layer> && tenon::detail::is_view<Elements>) {
    return tenon::detail::with_dynamic_extents(elements);
  } else {
    return elements;
  }
}
/// A tensor of a layer as a statement takes it beside elements of `Shape`: of extents known at run time where that
/// statement is shared, else as it is.
template <class Layer, shape_type Shape, class Tensor>
decltype(auto) beside(Tensor& own) {
  if constexpr (has_shared_statements<Layer> && Shape::dynamic_rank == Shape::rank && Shape::rank != 0) {
    if constexpr (!std::is_const_v<Tensor>) {
      if (own.data() == nullptr) own = Tensor(own.shape());
    }
    if constexpr (tenon::detail::is_view<std::remove_const_t<Tensor>>) return tenon::detail::with_dynamic_extents(own);
    else return view(tenon::detail::with_dynamic_extents(own.view()));
  } else {
    return (own);
  }
}

}  // namespace detail

namespace detail {
/// "hidden.weight" of "hidden" and "weight". Out of line: inlined, it is most of what visits members.
[[gnu::noinline]] inline std::string dotted(std::string_view name, std::string_view inner) {
  return std::string(name).append(".").append(inner);
}
/// The name of a part that has only a number.
[[gnu::noinline]] inline std::string name_of_part(int number) { return std::to_string(number); }
}  // namespace detail

/// A visitor of a part of a network: it puts the part's name before each name. Its type depends on the outer visitor
/// alone, not on the depth of the part, so that all parts share what is compiled.
template <class Visitor>
struct named_visitor {
  Visitor& visitor;
  std::string name;

  template <class What>
  void operator()(const std::string& inner, What& what) const {
    visitor(detail::dotted(name, inner), what);
  }
};
template <class Visitor>
named_visitor<Visitor> visitor_within(const std::string& name, Visitor& visitor) {
  return {visitor, name};
}
template <class Visitor>
named_visitor<Visitor> visitor_within(const std::string& name, const named_visitor<Visitor>& whole) {
  return {whole.visitor, detail::dotted(whole.name, name)};
}
template <class Visitor>
named_visitor<Visitor> visitor_within(const std::string& name, named_visitor<Visitor>& whole) {
  return visitor_within(name, std::as_const(whole));
}

/// Base of layers without parameters; they fit every memory space.
struct stateless {
  void initialise(std::uint64_t) {}
  template <class Visitor>
  void visit_parameters(Visitor&&) {}
};

namespace detail {
/// What nn::pack_padded_sequence returns.
template <class Operand>
inline constexpr bool has_packed_rows = requires(Operand& packed) { packed.rows, packed.layout; };
/// A pair, a tuple, an array.
template <class Operand>
inline constexpr bool has_elements = requires { std::tuple_size<std::remove_cvref_t<Operand>>::value; };
}  // namespace detail

/// Calls a layer with operands; call.hpp and recurrent_call.hpp give the definitions.
template <class Layer, class... Operands>
struct layer_caller {
  static constexpr bool are_packed = (false || ... || detail::has_packed_rows<Operands>);
  static constexpr bool are_lists = (false || ... || detail::has_elements<Operands>);
  static_assert(!are_packed || must_hold<Layer>,
                "tenon: of a packed sequence this layer takes the rows, such as head(packed.rows)");
  static_assert(!are_lists || must_hold<Layer>,
                "tenon: a layer takes its operands one by one, such as lstm(x, hidden, cell); no pair, tuple or array");
  static_assert(are_packed || are_lists || must_hold<Layer>,
                "tenon: to call a layer like a function include <tenon/tenon.hpp>; if that is there, this layer "
                "is not called with such operands");
};

namespace detail {
/// What a recurrent layer returns.
template <class Operand>
inline constexpr bool has_states = requires(Operand& values) { values.hidden; };
}  // namespace detail

/// Base of layers: what makes them functions.
/// example   const auto y = head(relu(hidden(x)));
template <class Layer>
struct callable {
  template <class... Operands>
  auto operator()(Operands&&... operands) {
    constexpr bool are_given_states = (false || ... || detail::has_states<Operands>);
    static_assert(!are_given_states || must_hold<Layer>,
                  "tenon: a recurrent layer makes a sequence and states; say which this layer reads, such as "
                  "head(lstm(x).sequence)");
    constexpr bool are_numbered = (false || ... || tenon::detail::holds_numbered<Operands>);
    static_assert(!are_numbered || must_hold<Layer>,
                  "tenon: variable<0>(x) is for expressions without layers; call layers with v = variable(x), and "
                  "loss.backward() leaves v.gradient()");
    if constexpr (!are_given_states && !are_numbered) {
      return layer_caller<Layer, Operands...>::call(static_cast<Layer&>(*this), std::forward<Operands>(operands)...);
    }
  }
  /// Of layers without parameters, which may be constants.
  template <class... Operands>
  auto operator()(Operands&&... operands) const {
    static_assert(std::is_base_of_v<stateless, Layer> || must_hold<Layer>,
                  "tenon: a layer with parameters is called by a name that is not const; gradients are left in it");
    Layer copy = static_cast<const Layer&>(*this);
    return copy(std::forward<Operands>(operands)...);
  }
  /// Training or use, as of networks; what dropout, batch norm, attention and recurrent layers do hangs on it.
  void train(bool is_training = true) {
    Layer& layer = static_cast<Layer&>(*this);
    if constexpr (requires { layer.is_training = is_training; }) layer.is_training = is_training;
  }
  void eval() { train(false); }
};

/// A layer with its parameters and buffers copied to another memory space, or as another type of elements. Layers say
/// what they are then by `moved<To>`.
template <space_or_element To, class Layer>
auto layer_moved(const Layer& layer) {
  if constexpr (std::is_base_of_v<stateless, Layer>) {
    return layer;
  } else {
    return layer.template to<To>();
  }
}

}  // namespace tenon::nn
