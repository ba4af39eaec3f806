// tenon/plan/describe.hpp: a statement in words, and the bytes that it moves.
// Expressions tell what they hold to a text that knows no types, so that a statement costs a compiler little.
// Floor 3: may include base, core, device, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/list.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/plan/alias.hpp>

namespace tenon {

/// A number of bytes in a unit that leaves at most four digits.
inline std::string describe_bytes(index bytes) {
  const char* const units[] = {" bytes", " kB", " MB", " GB", " TB"};
  int unit = 0;
  index divisor = 1;
  while (unit < 4 && bytes / divisor >= 10'000) ++unit, divisor *= 1000;
  return compose_text((bytes + divisor / 2) / divisor, units[unit]);
}

/// Takes in a statement, operand by operand, and writes it as the user's functions would be: tensors are told apart by
/// address and called x0, x1, ... in the order of their first mention, results of earlier kernels by their number.
class statement_text {
 public:
  void number(double value);
  void word(const char* name);
  /// `kernel` is the number of the one that will have written these elements; 0 for a tensor of the user's.
  void tensor(const void* data, int kernel, index bytes);
  void open(const char* operation);
  void reduced_axis(int axis);
  void close();
  void result(const char* dtype, const index* extents, int rank, index element_bytes);

  /// `float32 [20, 10] = relu(add(x0, 1))`
  std::string text() const { return results_ + " = " + expression_; }
  /// What is read of distinct tensors.
  index bytes_read() const;
  index bytes_written() const { return bytes_written_; }
  int tensors_read() const { return static_cast<int>(operands_.size()); }

 private:
  struct operand {
    const void* data;
    int kernel, number;
    index bytes;
  };
  void separate();
  const operand& find(const void* data, int kernel, index bytes);

  std::string expression_, results_;
  detail::list<operand> operands_;
  index bytes_written_ = 0;
  bool is_first_ = true, names_axes_ = false;
};

inline void statement_text::separate() {
  if (!is_first_) expression_ += ", ";
  is_first_ = false;
}

inline void statement_text::word(const char* name) {
  separate();
  expression_ += name;
}

inline void statement_text::number(double value) {
  char text[32];
  __builtin_snprintf(text, sizeof(text), "%g", value);
  separate();
  expression_ += text;
}

inline const statement_text::operand& statement_text::find(const void* data, int kernel, index bytes) {
  int tensors = 0;
  for (auto& each : operands_) {
    if (each.data == data && each.kernel == kernel) {
      each.bytes = each.bytes < bytes ? bytes : each.bytes;
      return each;
    }
    tensors += each.kernel == 0 ? 1 : 0;
  }
  operands_.push_back({data, kernel, kernel == 0 ? tensors : kernel, bytes});
  return operands_.back();
}

inline void statement_text::tensor(const void* data, int kernel, index bytes) {
  separate();
  expression_ += compose_text(kernel == 0 ? "x" : "result", find(data, kernel, bytes).number);
}

inline void statement_text::open(const char* operation) {
  separate();
  expression_ += compose_text(operation, "(");
  is_first_ = true;
}

inline void statement_text::reduced_axis(int axis) {
  expression_ += compose_text(names_axes_ ? ", " : ", axis<", axis);
  names_axes_ = true;
}

inline void statement_text::close() {
  expression_ += names_axes_ ? ">)" : ")";
  is_first_ = names_axes_ = false;
}

inline void statement_text::result(const char* dtype, const index* extents, int rank, index element_bytes) {
  std::string text;
  index count = 1;
  for (int axis = 0; axis < rank; ++axis) {
    text += compose_text(axis == 0 ? "" : ", ", extents[axis]);
    count *= extents[axis];
  }
  results_ += compose_text(results_.empty() ? "" : ", ", dtype, " [", text, "]");
  bytes_written_ += count * element_bytes;
}

inline index statement_text::bytes_read() const {
  index total = 0;
  for (const auto& each : operands_) total += each.bytes;
  return total;
}

/// The bytes of blocks of elements; blocks that start at one address count as one, the largest.
class distinct_bytes final : public read_visitor {
 public:
  void add(const any_block& elements) {
    index bytes = elements.size;
    for (int axis = 0; axis < elements.extents.rank; ++axis) {
      bytes *= elements.strides[axis] == 0 ? 1 : elements.extents[axis];
    }
    add(elements.start, bytes);
  }
  index total() const {
    index bytes = 0;
    for (const auto& each : blocks_) bytes += each.bytes;
    return bytes;
  }
  const detail::list<read_elements>& all() const { return blocks_; }

 private:
  void visit(const element_read& read) override { add(read.elements); }
  void add(std::uintptr_t start, index bytes) {
    for (auto& each : blocks_) {
      if (each.start == start) {
        each.bytes = each.bytes < bytes ? bytes : each.bytes;
        return;
      }
    }
    blocks_.push_back({start, bytes});
  }

  detail::list<read_elements> blocks_;
};

/// An expression as its type alone tells it.
inline void append_operation(statement_text& to, const node_words& words) {
  if (words.operands == nullptr) return to.word(words.name);
  to.open(words.name);
  for (auto operand = words.operands; *operand != nullptr; ++operand) append_operation(to, **operand);
  to.close();
}

namespace detail {

/// Stands for the elements that a kernel will have written.
struct kernel_result {
  int kernel;
};

template <class E>
void tell_axes(statement_text& to) {
  constexpr int rank = std::remove_cvref_t<decltype(std::declval<const E&>().operand())>::shape_type::rank;
  if constexpr (!std::is_same_v<typename E::axes, all_axes>) {
    constexpr auto reduced = reduced_axes<rank>(typename E::axes{});
    for (int axis = 0; axis < rank; ++axis) {
      if (reduced[axis]) to.reduced_axis(axis);
    }
  }
}

/// An expression with the values of its numbers, and its tensors by name.
template <class E>
void tell_node(const E& node, statement_text& to) {
  if constexpr (is_scalar_node<E>) {
    if constexpr (is_complex<typename E::element>) to.number(static_cast<double>(node.value.real()));
    else to.number(static_cast<double>(node.value));
  } else if constexpr (std::is_same_v<typename E::kind, leaf_kind>) {
    const index bytes = node.shape().count() * static_cast<index>(sizeof(typename E::element));
    if constexpr (requires { node.owner.kernel; }) to.tensor(nullptr, node.owner.kernel, bytes);
    else to.tensor(node.elements.data(), 0, bytes);
  } else {
    to.open(operation_name<E>);
    apply_tuple([&](const auto&... operand) { (tell_node(operand, to), ...); }, node.operands);
    if constexpr (is_reduction<E>) tell_axes<E>(to);
    to.close();
  }
}

[[gnu::cold, gnu::noinline]] inline void tell_observer(launch_observer& observer, const any_node& node,
                                                       const extents_view& extents, index bytes_written) {
  distinct_bytes read;
  node.visit_reads(read);
  observer.statement({node.type->dtype, extents.first, extents.rank, read.total(), bytes_written, node.type->words,
                      read.all().data(), read.all().size()});
}

[[gnu::cold, gnu::noinline]] inline void tell_result(launch_observer& observer, const statement_result& result) {
  observer.wrote(result);
}

}  // namespace detail

/// Says to the calling thread's observer, where there is one, that `elements` of type T in `Space` are written.
/// cost      a load where there is none
template <dtype T, class Space>
void announce_result(const node_words& words, const any_block& elements) {
  if (launch_observer* observer = current_launch_observer()) [[unlikely]]
    detail::tell_result(*observer, {dtype_name<T>(), &words, &elements, &Space::copy_to_host});
}

/// Says to the calling thread's observer, where there is one, that the next launch evaluates `node`.
/// cost      a load where there is none
inline void announce_statement(const any_node& node, const extents_view& extents, index bytes_written) {
  if (launch_observer* observer = current_launch_observer()) [[unlikely]]
    detail::tell_observer(*observer, node, extents, bytes_written);
}

}  // namespace tenon
