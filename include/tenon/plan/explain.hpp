// tenon/plan/explain.hpp: a statement's plan as text.
// Walks the same splits as the evaluator and evaluates nothing; on a device its launches are noted in place of run.
// Floor 3: may include base, core, device, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/assign.hpp>
#include <tenon/device/primitives.hpp>
#include <tenon/plan/boxes.hpp>
#include <tenon/plan/describe.hpp>
#include <tenon/plan/few_elements.hpp>
#include <tenon/plan/split.hpp>

namespace tenon {

namespace detail {

/// Notes launches in place of running them.
class launch_notes final : public launch_observer {
 public:
  void statement(const statement_facts&) override {}
  bool begin(const launch_facts& facts) override {
    if (facts.shape == nullptr) return true;
    const launch_shape& shape = *facts.shape;
    lines_ +=
        compose_text("   launches ", facts.kernel, ": ", describe_grid(shape.grid), " of ", shape.block, " threads");
    if (shape.shared_bytes != 0) lines_ += compose_text(", ", describe_bytes(shape.shared_bytes), " of shared memory");
    for (int i = 0; i < facts.choice_count; ++i) {
      lines_ += compose_text("; ", facts.choices[i].name, " ", facts.choices[i].value);
    }
    lines_ += "\n";
    return false;
  }
  void end() noexcept override {}
  const std::string& lines() const { return lines_; }

 private:
  static std::string describe_grid(const grid_extent& grid) {
    if (grid.y == 1 && grid.z == 1) return compose_text(grid.x, grid.x == 1 ? " block" : " blocks");
    return compose_text(grid.x, " x ", grid.y, grid.z == 1 ? "" : compose_text(" x ", grid.z), " blocks");
  }

  std::string lines_;
};

/// Whether a statement of few elements in many boxes runs as one loop, whatever its form.
template <class E>
inline constexpr bool is_in_boxes = runs_in_boxes<concrete_space<typename E::space>, E>;

template <class E>
constexpr const char* describe_stage() {
  if constexpr (is_in_boxes<E>) return "box by box";
  switch (stage_of<E>()) {
    case stage::pointwise:
      return "pointwise";
    case stage::reduce:
      return "reduction";
    case stage::rows:
      return "row-resident";
    case stage::contract:
      return "contraction";
    case stage::own_pass:
      return "own pass";
    default:
      return "split";
  }
}

/// Why `Part` ends a kernel within a longer statement.
template <class Part>
constexpr const char* describe_boundary() {
  if constexpr (!fuses_operations) {
    return "with TENON_NO_FUSE every operation is a kernel of its own";
  } else if constexpr (is_own_pass<Part>) {
    return "an algorithm is done before anything reads it";
  } else if constexpr (is_contraction<Part>) {
    return "a kernel holds one contraction, and pointwise operations around it";
  } else if constexpr (!is_reduction<Part>) {
    return "a contraction reads its operands many times";
  } else if constexpr (std::is_same_v<typename Part::axes, all_axes>) {
    return "what follows needs the whole reduction at every position";
  } else {
    return "what follows reads the reduction at positions of other rows";
  }
}

class explanation {
 public:
  template <class E>
  void add(const E& node, const char* boundary) {
    if constexpr (stage_of<E>() == stage::split && !is_in_boxes<E>) {
      split(
          node, [this](const auto& part) { return this->evaluated_later(part); },
          [this, boundary](const auto& rest) { this->add(rest, boundary); });
    } else {
      add_kernel(node, boundary);
    }
  }
  std::string text() const { return compose_text(kernels_, kernels_ == 1 ? " kernel\n" : " kernels\n", lines_); }

 private:
  template <class Part>
  auto evaluated_later(const Part& part) {
    using shape = typename Part::shape_type;
    using space = concrete_space<typename Part::space>;
    add(part, describe_boundary<Part>());
    const view<const typename Part::element, shape, space> elements(address_of_result<typename Part::element>(),
                                                                    part.shape());
    return leaf<typename Part::element, shape, space, kernel_result>{elements, {kernels_}};
  }
  template <class E>
  void add_kernel(const E& node, const char* boundary) {
    statement_text statement;
    const auto extents = node.shape().to_array();
    statement.result(dtype_name<typename E::element>(), extents.begin(), extents.size(), sizeof(typename E::element));
    tell_node(node, statement);
    lines_ += compose_text(++kernels_, ". ", describe_stage<E>(), ": ", statement.text(), "\n   reads ");
    lines_ += compose_text(describe_bytes(statement.bytes_read()), " of ", statement.tensors_read(),
                           statement.tensors_read() == 1 ? " tensor" : " tensors", ", writes ",
                           describe_bytes(statement.bytes_written()), "\n");
    constexpr bool is_kernel = !std::is_same_v<concrete_space<typename E::space>, host> && !is_own_pass<E>;
    if constexpr (is_kernel) add_launches(node);
    else if constexpr (stage_of<E>() == stage::contract && !is_in_boxes<E>) add_algorithm(node);
    if (boundary != nullptr) lines_ += compose_text("   ends here: ", boundary, "\n");
  }
  /// What assigning `node` to a new tensor launches.
  template <class E>
  void add_launches(const E& node) {
    using destination = view<typename E::element, typename E::shape_type, typename E::space>;
    launch_notes notes;
    const observer_scope noting(&notes);
    assigner<destination, E>::assign(destination(address_of_result<typename E::element>(), node.shape()), node);
    lines_ += notes.lines();
  }
  /// Which of several algorithms of the host runs `node` into a new tensor.
  template <class E>
  void add_algorithm(const E& node) {
    if constexpr (runs_small<E>) {
      lines_ += "   runs as arithmetic in registers\n";
    } else {
      using element = typename E::element;
      const view<element, typename E::shape_type, host> destination(address_of_result<element>(), node.shape());
      const char* const name = stage_executor<stage_of<E>(), host>::algorithm(make_target(destination), node);
      if (name != nullptr) lines_ += compose_text("   runs as ", name, "\n");
    }
  }
  /// An address for what kernel number `kernels_` writes: aligned as a new tensor's, and where no tensor lies.
  template <class T>
  T* address_of_result() const {
    return reinterpret_cast<T*>((std::uintptr_t{1} << 62) + (static_cast<std::uintptr_t>(kernels_) << 48));
  }

  std::string lines_;
  int kernels_ = 0;
};

}  // namespace detail

/// What a statement of this expression will run: its kernels in order, what is fused into each, the bytes of distinct
/// tensors that it reads and writes, and why a kernel ends before the statement does. For tensors of a device, also
/// what is launched when the result is a new tensor: grid, threads, shared memory, and what the kernel chose (tiles,
/// elements of a packet, blocks that share a result); not of algorithms. For products of the host, the algorithm that
/// multiplies. Evaluates nothing; temporary memory of kernels may be allocated.
/// example   tests/plan/explain.cpp "softmax is one row-resident kernel"
template <tensor_operand Operand>
std::string explain(Operand&& operand) {
  detail::explanation explanation;
  explanation.add(as_node(std::forward<Operand>(operand)), nullptr);
  return explanation.text();
}

}  // namespace tenon
