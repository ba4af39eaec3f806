// tests/ptx/scopes.hpp: names that are declared in braces within an entry, made unique.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.hpp"

namespace tenon_test::ptx {

/// Gives names of inner scopes to what is declared there.
class scopes {
 public:
  explicit scopes(std::list<std::string>& names) : names_(names) {}
  void open() { inner_.emplace_back(); }
  void close() { inner_.pop_back(); }
  bool is_outermost() const { return inner_.empty(); }
  std::string_view declare(std::string_view name) {
    if (inner_.empty()) return name;
    names_.push_back(std::string(name) + "#" + std::to_string(++count_));
    return inner_.back()[name] = names_.back();
  }
  void rename(operand& each) const {
    each.text = renamed(each.text);
    for (operand& part : each.parts) rename(part);
  }
  std::string_view renamed(std::string_view name) const {
    for (auto scope = inner_.rbegin(); scope != inner_.rend(); ++scope) {
      const auto found = scope->find(name);
      if (found != scope->end()) return found->second;
    }
    return name;
  }

 private:
  std::list<std::string>& names_;
  std::vector<std::map<std::string_view, std::string_view>> inner_;
  int count_ = 0;
};

}  // namespace tenon_test::ptx
