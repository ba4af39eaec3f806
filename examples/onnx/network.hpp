// examples/onnx/network.hpp: the network while it is written: what is known of each value, members, lines of `forward`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>

#include "graph.hpp"
#include "names.hpp"

namespace onnx_in {

/// How tightly code binds: whether it needs brackets as an operand.
enum class binding { loose, sum, product, tight };

/// A value of the graph: elements that are known now, or the code that computes them.
struct value {
  int element = float32;
  onnx_in::extents extents;
  std::optional<constant> data;           // known elements
  std::string source;                     // the initialiser that they are
  std::optional<onnx_in::extents> whole;  // whole numbers that hang on extents of the input
  std::optional<constant> fill;           // the element that all elements are
  std::string code;
  binding strength = binding::tight;
  bool is_name = false;  // the code names a value in memory
  std::string origin;    // where this is the same elements in another order: what they were, and their axes
  onnx_in::extents origin_extents;
  std::vector<std::int64_t> order;

  int rank() const { return static_cast<int>(extents.size()); }
  bool is_known() const { return data || whole || fill; }
};

/// A member of the network: a layer, a parameter or a tensor, with what the file of weights holds of it.
struct member {
  std::vector<std::string> path;
  std::string type, initial;
  std::vector<std::pair<std::string, constant>> state;  // names behind the path; "" for the member itself
};

class network {
 public:
  /// Reads a graph from its first node to its last.
  /// throws    error that names the node, for what is not supported
  explicit network(const graph& from);

  const std::vector<member>& members() const { return members_; }
  const std::vector<std::string>& lines() const { return lines_; }
  const std::string& result() const { return result_; }
  const graph& source() const { return graph_; }
  const std::vector<extents>& output_extents() const { return output_extents_; }
  const std::set<std::string>& helpers() const { return helpers_; }
  const std::set<std::string>& includes() const { return includes_; }

  value& of(const std::string& name);
  bool is_defined(const std::string& name) const { return values_.contains(name); }
  void define(const std::string& name, value made);
  /// How often a value is read, and by which nodes.
  int uses(const std::string& name) const;
  const node* only_reader(const std::string& name) const;
  /// The node that makes a value, where it is of an operator and only one node reads it; else null.
  const node* maker(const std::string& name, const char* operation) const;
  /// Reads the nodes of a graph within a node, in its place.
  void read(const graph& part);
  void absorb(const node& done) { absorbed_.insert(&done); }

  /// A member by its key: made once, however many nodes have it. Returns what stands for it in code.
  std::string layer(const std::string& key, const std::string& stem, member made);
  /// The name that a member gets: that of a weight, else that of the node.
  std::string stem_of(const node& at, const std::vector<std::string>& weights) const;
  /// Gives code a name in `forward`.
  std::string named(const std::string& code, const char* type = "const tn::traced");
  /// A value as an operand.
  std::string code_of(value& each, binding least = binding::loose);
  /// A value that lies in memory and has a name.
  std::string name_of(value& each);
  /// A function template that the header has before the network.
  void want(const char* helper) { helpers_.insert(helper); }
  /// A header that few networks need.
  void include(const char* path) { includes_.insert(path); }

 private:
  std::string constant_code(value& each);
  void read_inputs();
  void count_reads(const graph& part);
  void write_result();
  void drop_unread_lines();
  std::vector<std::string> free_path(const std::string& stem) const;

  const graph& graph_;
  std::map<std::string, value> values_;
  std::map<std::string, int> uses_;
  std::map<std::string, std::vector<const node*>> readers_;
  std::set<const node*> absorbed_;
  std::vector<member> members_;
  std::map<std::string, std::string> keys_;
  std::vector<std::string> lines_;
  std::string result_;
  std::vector<extents> output_extents_;
  int names_ = 0;
  std::set<std::string> helpers_, symbols_;
  std::set<std::string> includes_{"cmath", "limits", "tenon/tenon.hpp", "tenon/train/checkpoint.hpp", "tuple"};
};

/// A number as C++ writes it in expressions of an element type.
std::string literal(int element, double number);
/// The same of an element that is known, to its last digit.
std::string literal(const constant& one);
/// A whole number that hangs on extents, in the element type of its value.
std::string number_of(const value& each);
/// `tn::shape<tn::dyn, 4>(batch)`
std::string shape_of(const extents& all);
/// Its type alone.
std::string shape_type_of(const extents& all);
std::string joined(const std::vector<std::string>& all, const char* between = ", ");
std::string listed(const std::vector<std::int64_t>& all);
/// An extent that only the value itself knows.
extent unknown_extent();

}  // namespace onnx_in
