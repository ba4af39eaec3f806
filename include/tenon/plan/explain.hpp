// tenon/plan/explain.hpp: a statement's plan as text.
// Walks the same splits as the evaluator and evaluates nothing: what a kernel leaves for later ones has a number only.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/split.hpp>
#include <vector>

namespace tenon {

namespace detail {

/// Stands for the elements that a kernel will have written.
struct kernel_result {
  int kernel;
};

/// What a kernel reads: tensors, told apart by address and called x0, x1, ... in the order of their first mention, and
/// results of earlier kernels.
class operand_names {
 public:
  template <class Leaf>
  std::string name(const Leaf& node) {
    const index bytes = node.shape().count() * static_cast<index>(sizeof(typename Leaf::element));
    if constexpr (requires { node.owner.kernel; }) return mention("result", nullptr, node.owner.kernel, bytes);
    else return mention("x", node.elements.data(), 0, bytes);
  }
  std::size_t count() const { return operands_.size(); }
  index bytes() const {
    index total = 0;
    for (const auto& each : operands_) total += each.bytes;
    return total;
  }

 private:
  struct operand {
    const void* data;
    int kernel, number;
    index bytes;
  };
  std::string mention(const char* prefix, const void* data, int kernel, index bytes) {
    int tensors = 0;
    for (auto& each : operands_) {
      if (each.data == data && each.kernel == kernel) {
        each.bytes = each.bytes < bytes ? bytes : each.bytes;
        return compose_text(prefix, each.number);
      }
      tensors += each.kernel == 0 ? 1 : 0;
    }
    operands_.push_back({data, kernel, kernel == 0 ? tensors : kernel, bytes});
    return compose_text(prefix, operands_.back().number);
  }
  std::vector<operand> operands_;
};

template <class Element, class Shape>
std::string describe_elements(const Shape& extents) {
  return compose_text(dtype_name<Element>(), " ", extents.to_array());
}

inline std::string describe_bytes(index bytes) {
  const char* const units[] = {" bytes", " kB", " MB", " GB", " TB"};
  int unit = 0;
  index divisor = 1;
  while (unit < 4 && bytes / divisor >= 10'000) ++unit, divisor *= 1000;
  return compose_text((bytes + divisor / 2) / divisor, units[unit]);
}

inline std::string describe_number(double value) {
  char text[32];
  __builtin_snprintf(text, sizeof(text), "%g", value);
  return text;
}

template <class E>
std::string describe_axes(const E&) {
  constexpr int rank = std::remove_cvref_t<decltype(std::declval<const E&>().operand())>::shape_type::rank;
  if constexpr (std::is_same_v<typename E::axes, all_axes>) {
    return "";
  } else {
    constexpr auto reduced = reduced_axes<rank>(typename E::axes{});
    std::string text;
    for (int axis = 0; axis < rank; ++axis) {
      if (reduced[axis]) text += compose_text(text.empty() ? ", axis<" : ", ", axis);
    }
    return text + ">";
  }
}

/// An expression as the user's functions would be written, operands by name.
template <class E>
std::string describe_node(const E& node, operand_names& operands) {
  if constexpr (is_scalar_node<E>) {
    return describe_number(static_cast<double>(node.value));
  } else if constexpr (std::is_same_v<typename E::kind, leaf_kind>) {
    return operands.name(node);
  } else {
    std::string text;
    for_each_index<decltype(E::operands)::count>(
        [&](auto i) { text += (i.value == 0 ? "" : ", ") + describe_node(get<i.value>(node.operands), operands); });
    if constexpr (is_reduction<E>) text += describe_axes(node);
    return compose_text(operation_name<E>, "(", text, ")");
  }
}

template <class E>
constexpr const char* describe_stage() {
  switch (stage_of<E>()) {
    case stage::pointwise:
      return "pointwise";
    case stage::reduce:
      return "reduction";
    case stage::rows:
      return "row-resident";
    case stage::contract:
      return "contraction";
    default:
      return "split";
  }
}

/// Why `Part` ends a kernel within a longer statement.
template <class Part>
constexpr const char* describe_boundary() {
  if constexpr (is_contraction<Part>) {
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
    if constexpr (stage_of<E>() == stage::split) {
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
    const view<const typename Part::element, shape, space> elements(nullptr, part.shape());
    return leaf<typename Part::element, shape, space, kernel_result>{elements, {kernels_}};
  }
  template <class E>
  void add_kernel(const E& node, const char* boundary) {
    operand_names operands;
    const std::string computes = describe_node(node, operands);
    const index written = node.shape().count() * static_cast<index>(sizeof(typename E::element));
    lines_ += compose_text(++kernels_, ". ", describe_stage<E>(), ": ",
                           describe_elements<typename E::element>(node.shape()), " = ", computes, "\n   reads ");
    lines_ += compose_text(describe_bytes(operands.bytes()), " of ", operands.count(),
                           operands.count() == 1 ? " tensor" : " tensors", ", writes ", describe_bytes(written), "\n");
    if (boundary != nullptr) lines_ += compose_text("   ends here: ", boundary, "\n");
  }

  std::string lines_;
  int kernels_ = 0;
};

}  // namespace detail

/// What a statement of this expression will run: its kernels in order, what is fused into each, the bytes of distinct
/// tensors that it reads and writes, and why a kernel ends before the statement does. Evaluates nothing.
/// example   tests/plan/explain.cpp "softmax is one row-resident kernel"
template <tensor_operand Operand>
std::string explain(Operand&& operand) {
  detail::explanation explanation;
  explanation.add(as_node(std::forward<Operand>(operand)), nullptr);
  return explanation.text();
}

}  // namespace tenon
