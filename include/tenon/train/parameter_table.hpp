// tenon/train/parameter_table.hpp: the parameters of a network as one list of chunks, and what is kept for them.
// A chunk says all that a block of threads has to know, so that one launch can do every parameter.
// Floor 8: may include base, core, device, expr, plan, evaluate, nn, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expressions.hpp>
#include <tenon/nn/state.hpp>
#include <vector>

namespace tenon::train {

inline constexpr index chunk_elements = 4096;  ///< of a chunk at most: what a block of threads does
inline constexpr int max_chunk_sums = 2;       ///< numbers that a sweep may add up over elements

namespace detail {
/// Refuses what an optimizer cannot move as one network.
template <class... Trained>
consteval void must_be_one_module() {
  static_assert(must_hold<Trained...>,
                "tenon: an optimizer moves one network; several, and loose parameters, are members of one nn::module");
}
/// Whether the parameters of a network lie in `Space`, and have elements of type `Weight` where it is given, as far as
/// the network says so.
template <class Network, class Space, class Weight = void>
inline constexpr bool has_parameters_of = [] {
  using parameters = nn::parameters_of<Network>;
  if constexpr (requires { typename parameters::space; }) {
    return std::is_same_v<typename parameters::space, Space> &&
           (std::is_void_v<Weight> || std::is_same_v<typename parameters::element, Weight>);
  } else {
    return true;
  }
}();
/// Refuses a network of another space or other elements than an optimizer moves.
template <class Network, class Space, class Weight>
consteval void must_fit() {
  static_assert(has_parameters_of<Network, Space, Weight> || must_hold<Network, Space, Weight>,
                "tenon: an optimizer has the space and elements of its network: adam<Space, float, half>(net, ...)");
}
}  // namespace detail

/// A parameter in memory: its elements, their gradients, and the group of options that it belongs to.
template <dtype Weight, dtype T = Weight>
struct parameter_memory {
  Weight* value;
  const Weight* gradient;  // null where there is none
  index size;
  int group;
  T* master = nullptr;  // its elements as T where another table keeps them

  bool operator==(const parameter_memory&) const = default;
};

/// A run of elements of one parameter, which is computed in `T`. A parameter of another type has elements of T beside
/// it, which are the ones that are moved, and are rounded to it.
template <dtype T, dtype Weight = T>
struct parameter_chunk {
  T* value;
  Weight* rounded;  // null where parameters are of T
  const Weight* gradient;
  index state;       // where what is kept for its first element lies, in each plane of the state
  int size, group;   // how many elements, none without gradients; whose options
  int parameter;     // its number
  int first, count;  // the first chunk of that parameter, and how many it has
};

/// The chunks of all parameters as kernels see them.
template <dtype T, dtype Weight = T>
struct chunk_list {
  const parameter_chunk<T, Weight>* chunks;
  int count;
  std::int32_t* steps;  // that each chunk has taken; on the device, so that replayed graphs count too
  T* state;             // planes of one number for each element
  index plane;          // elements of a plane
  T* partial_sums;      // `max_chunk_sums` of each chunk
  T* totals;            // what sums over all parameters came to, then what those over each did
  unsigned* counters;   // of chunks that are done, for each total
};

/// A part of an optimizer's state, as checkpoints save it.
template <dtype T, shape_type Shape, memory_space Space>
struct kept_values {
  view<T, Shape, Space> elements;

  const Shape& shape() const { return elements.shape(); }
  template <memory_space Other>
  tensor<T, Shape, Other> to() const {
    return tensor<T, Shape, Space>(elements).template to<Other>();
  }
  template <class OtherShape>
  void copy_from(const tensor<T, OtherShape, host>& source) const {
    Space::copy_from_host(elements.data(), source.data(), static_cast<std::size_t>(source.size()) * sizeof(T));
  }
};

/// The device on which parameters lie is the current one while this lives.
template <class Space>
class device_of_parameters {
 public:
  template <dtype Weight, dtype T>
  explicit device_of_parameters(const std::vector<parameter_memory<Weight, T>>&) {}
};
template <has_devices Space>
class device_of_parameters<Space> {
 public:
  template <dtype Weight, dtype T>
  explicit device_of_parameters(const std::vector<parameter_memory<Weight, T>>& parameters)
      : on_device_(find(parameters)) {}

 private:
  template <class Weight, class T>
  static int find(const std::vector<parameter_memory<Weight, T>>& parameters) {
    for (const auto& each : parameters) {
      if (each.size != 0) return space_devices<Space>::of(each.value);
    }
    return space_devices<Space>::current();
  }
  device_guard<Space> on_device_;
};

/// Owns the list of chunks and the state of their elements, each allocated with the first list and never again.
/// Parameters of another type than T have their elements as T in one plane more, behind the others; where the table
/// `Follows` another, in that one.
template <dtype T, memory_space Space, dtype Weight = T, bool Follows = false>
class parameter_table {
 public:
  static constexpr bool has_masters = !std::is_same_v<T, Weight>, owns_masters = has_masters && !Follows;
  using memory = parameter_memory<Weight, T>;

  /// Takes the parameters of a step, and allocates `planes` numbers for each of their elements at the first. What is
  /// kept is zero then; `fill(table)` may give it other values. Where anything throws, the table is as it was. `owner`
  /// stands in messages.
  /// throws    shape_error when later parameters are not as many or not of the same sizes; capture_error where they
  ///           have changed within a captured function
  /// cost      a comparison of pointers; a copy of the list to the device where they have changed
  template <class Fill>
  void take(const std::vector<memory>& parameters, int planes, const Fill& fill, const char* owner = "optimizer") {
    if (parameters == parameters_) return;
    refuse_in_capture<Space>("a step with other parameters or gradients than the one before",
                             "run two steps before the capture");
    if (parameters_.empty()) {
      parameter_table made;
      made.begin(parameters, planes);
      fill(made);
      *this = std::move(made);
    } else {
      check_same_sizes(parameters, owner);
      auto taken = parameters;
      write(chunks_, chunks_of(parameters));
      parameters_ = std::move(taken);
    }
  }
  void take(const std::vector<memory>& parameters, int planes) {
    take(parameters, planes, [](parameter_table&) {});
  }
  chunk_list<T, Weight> chunks() {
    return {chunks_.data(), static_cast<int>(chunks_.count()),
            steps_.data(),  state_.data(),
            plane_,         partial_sums_.data(),
            totals_.data(), counters_.data()};
  }
  /// Plane `plane` of the state of parameter `parameter`.
  T* state_of(int parameter, int plane) {
    return state_.data() + plane * plane_ + starts_[static_cast<std::size_t>(parameter)];
  }
  /// The elements of parameter `parameter` as T.
  T* master_of(int parameter) { return state_of(parameter, masters_); }
  const std::vector<memory>& parameters() const { return parameters_; }

  /// How many steps were taken; waits for the device.
  std::int64_t steps() const {
    std::int32_t found = 0;
    if (steps_.count() != 0) Space::copy_to_host(&found, steps_.data(), sizeof(found));
    return found;
  }
  void set_steps(std::int64_t steps) {
    const auto all = static_cast<std::int32_t>(steps);
    if (steps_.count() != 0) view<std::int32_t, rank<1>, Space>(steps_.data(), rank<1>(steps_.count())) = all;
  }
  /// Says to the space that its current stream uses all of this.
  /// throws    device_error where it does not lie on the current device
  void note_use() const {
    if constexpr (has_devices<Space>) {
      if (!space_devices<Space>::are_watched()) return;
      for (const auto& each : parameters_) note(each.value), note(each.gradient), note(each.master);
      note(chunks_.data()), note(steps_.data()), note(state_.data());
      note(partial_sums_.data()), note(totals_.data()), note(counters_.data());
    }
  }

 private:
  static constexpr index state_alignment = 64;  // elements; parameters begin there in each plane

  static void note(const void* address) {
    if (address == nullptr) return;
    const int device = space_devices<Space>::of(address), expected = space_devices<Space>::current();
    if (device != expected) {
      throw device_error(compose_text("optimizer: a parameter or its state lies on device ", device, " of ",
                                      Space::name, ", expected device ", expected, ", the current one"));
    }
    space_devices<Space>::note(address);
  }
  template <class U>
  static void write(storage<U, Space>& to, const std::vector<U>& values) {
    if (!values.empty()) Space::copy_from_host(to.data(), values.data(), to.bytes());
  }
  [[gnu::cold]] void check_same_sizes(const std::vector<memory>& parameters, const char* owner) const {
    bool is_same = parameters.size() == parameters_.size();
    for (std::size_t i = 0; is_same && i < parameters.size(); ++i) {
      is_same = parameters[i].size == parameters_[i].size;
    }
    if (!is_same) {
      throw shape_error(compose_text(owner, ": ", parameters.size(), " parameters of other sizes than the ",
                                     parameters_.size(), " of its first step; an ", owner, " belongs to one network"));
    }
  }
  /// Of a table that holds nothing yet.
  [[gnu::cold]] void begin(const std::vector<memory>& parameters, int planes) {
    parameters_ = parameters, masters_ = planes;
    for (const auto& each : parameters) {
      starts_.push_back(plane_);
      plane_ += (each.size + state_alignment - 1) / state_alignment * state_alignment;
    }
    allocate(planes + (owns_masters ? 1 : 0));
    if constexpr (owns_masters) fill_masters();
    write(chunks_, chunks_of(parameters));
  }
  static index chunks_in(index size) { return (size + chunk_elements - 1) / chunk_elements; }
  std::vector<parameter_chunk<T, Weight>> chunks_of(const std::vector<memory>& parameters) {
    std::vector<parameter_chunk<T, Weight>> made;
    for (std::size_t number = 0; number < parameters.size(); ++number) {
      const memory& each = parameters[number];
      const int first = static_cast<int>(made.size()), count = static_cast<int>(chunks_in(each.size));
      for (index start = 0; start < each.size; start += chunk_elements) {
        const index left = each.size - start, size = left < chunk_elements ? left : chunk_elements;
        const bool is_still = each.gradient == nullptr;
        made.push_back({nullptr, nullptr, is_still ? nullptr : each.gradient + start, starts_[number] + start,
                        is_still ? 0 : static_cast<int>(size), each.group, static_cast<int>(number), first, count});
        if constexpr (has_masters) made.back().rounded = each.value + start;
        else made.back().value = each.value + start;
        if (each.master != nullptr) made.back().value = each.master + start;
        if constexpr (owns_masters) made.back().value = master_of(static_cast<int>(number)) + start;
      }
    }
    return made;
  }
  [[gnu::cold]] void allocate(int planes) {
    const auto totals = static_cast<index>(parameters_.size()) + 1;
    index chunks = 0;
    for (const auto& each : parameters_) chunks += chunks_in(each.size);
    chunks_ = storage<parameter_chunk<T, Weight>, Space>(chunks);
    steps_ = storage<std::int32_t, Space>(chunks);
    state_ = storage<T, Space>(plane_ * planes);
    partial_sums_ = storage<T, Space>(chunks * max_chunk_sums);
    totals_ = storage<T, Space>(totals);
    counters_ = storage<unsigned, Space>(totals);
    set_steps(0);
    if (state_.count() != 0) view<T, rank<1>, Space>(state_.data(), rank<1>(state_.count())) = T{0};
    write(totals_, std::vector<T>(static_cast<std::size_t>(totals)));
    write(counters_, std::vector<unsigned>(static_cast<std::size_t>(totals)));
  }
  void fill_masters() {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const rank<1> extent(parameters_[i].size);
      view<T, rank<1>, Space>(master_of(static_cast<int>(i)), extent) =
          cast<T>(view<const Weight, rank<1>, Space>(parameters_[i].value, extent));
    }
  }

  std::vector<memory> parameters_;
  std::vector<index> starts_;
  index plane_ = 0;
  int masters_ = 0;  // the plane of elements as T
  storage<parameter_chunk<T, Weight>, Space> chunks_;
  storage<std::int32_t, Space> steps_;
  storage<T, Space> state_, partial_sums_, totals_;
  storage<unsigned, Space> counters_;
};

}  // namespace tenon::train
