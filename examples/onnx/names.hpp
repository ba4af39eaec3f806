// examples/onnx/names.hpp: names of a model as names of C++: of extents, members, namespaces and files.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

namespace onnx_in {

/// Whether a name stands in code.
bool holds_word(const std::string& text, const std::string& word);
/// Whether C++ has a meaning for a word.
bool is_keyword(const std::string& word);

/// A member of a network.
std::string member_name(const std::string& name);
/// The files of a model.
std::string file_name(const std::string& model);
/// The namespace of a model by the name of its files. The ending parts it from all that libraries declare.
std::string namespace_of(const std::string& file);

/// Names of extents, which are local numbers of `forward`. Each extent has a name of its own.
class extent_names {
 public:
  /// The name of an extent that the model calls `symbol`: the same one each time.
  std::string of(const std::string& symbol);

 private:
  std::map<std::string, std::string> names_;
  std::set<std::string> taken_;
};

}  // namespace onnx_in
