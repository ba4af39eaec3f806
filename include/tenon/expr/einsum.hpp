// tenon/expr/einsum.hpp: sums of products written in letters.
// `einsum<"bij,bjk->bik">(a, b)`: the text is read by the compiler and becomes the one contraction node.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tenon/expr/matmul.hpp>
#include <tenon/expr/views/diagonal.hpp>

namespace tenon {

/// The text of an einsum: letters for the axes of each operand, with commas between, and after "->" those of the
/// result.
template <int Size>
struct einsum_text {
  /// A term is the part of the text that belongs to one operand, or to the result.
  struct term {
    int first, last;
  };
  /// What the axes of an ellipsis bear, counted from the last one; higher than any letter.
  static constexpr int ellipsis = 256;

  char characters[Size];

  consteval einsum_text(const char (&text)[Size]) {
    for (int i = 0; i < Size; ++i) characters[i] = text[i];
  }
  static constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  /// Where "->" stands, or the end.
  constexpr int arrow() const {
    int place = 0;
    while (place < Size - 1 && characters[place] != '-') ++place;
    return place;
  }
  constexpr bool has_result() const { return arrow() < Size - 1; }
  constexpr term result() const { return {arrow() + 2, Size - 1}; }
  constexpr int operand_count() const {
    int count = 1;
    for (int i = 0; i < arrow(); ++i) count += characters[i] == ',' ? 1 : 0;
    return count;
  }
  constexpr term operand(int number) const {
    term found{0, 0};
    for (;; ++found.last) {
      const bool ends = found.last == arrow() || characters[found.last] == ',';
      if (ends && number-- == 0) return found;
      if (ends) found.first = found.last + 1;
    }
  }
  /// Whether only letters, spaces, commas, ellipses and at most one "->" stand where they may.
  constexpr bool is_valid() const {
    for (int i = 0; i < Size - 1; ++i) {
      const char c = characters[i];
      const bool dots = c == '.' && i + 2 < Size && characters[i + 1] == '.' && characters[i + 2] == '.';
      const bool arrows = c == '-' && i == arrow() && characters[i + 1] == '>';
      if (!is_letter(c) && c != ' ' && !dots && !arrows && !(c == ',' && i < arrow())) return false;
      i += dots ? 2 : arrows ? 1 : 0;
    }
    return true;
  }
  constexpr bool has_ellipsis(term part) const {
    for (int i = part.first; i < part.last; ++i) {
      if (characters[i] == '.') return true;
    }
    return false;
  }
  constexpr int letter_count(term part) const {
    int count = 0;
    for (int i = part.first; i < part.last; ++i) count += is_letter(characters[i]) ? 1 : 0;
    return count;
  }
  /// What axis number `position` of a term bears where an ellipsis stands for `width` axes.
  constexpr int letter(term part, int position, int width) const {
    for (int i = part.first; i < part.last; ++i) {
      if (characters[i] == '.') {
        if (position < width) return ellipsis + width - 1 - position;
        position -= width, i += 2;
      } else if (is_letter(characters[i]) && position-- == 0) {
        return characters[i];
      }
    }
    return -1;
  }
};

namespace detail {

template <class... Lists>
struct joined_lists {
  using type = axis_list<>;
};
template <int... First>
struct joined_lists<axis_list<First...>> {
  using type = axis_list<First...>;
};
template <int... First, int... Second, class... Rest>
struct joined_lists<axis_list<First...>, axis_list<Second...>, Rest...>
    : joined_lists<axis_list<First..., Second...>, Rest...> {};
template <class... Lists>
using join_lists = typename joined_lists<Lists...>::type;

template <int Letter, bool Chosen>
using optional_letter = std::conditional_t<Chosen, axis_list<Letter>, axis_list<>>;

/// The letters of `List` that are (or are not) among `Others`, in the order of `List`.
template <bool Among, class Others, int... Letters>
constexpr auto letters_among(axis_list<Letters...>) {
  return join_lists<optional_letter<Letters, (axis_of_letter(Others{}, Letters) >= 0) == Among>...>{};
}
template <class List, class Others>
using common_letters = decltype(letters_among<true, Others>(List{}));
template <class List, class Others>
using other_letters = decltype(letters_among<false, Others>(List{}));

/// Each letter once, where it appears first.
template <int... Letters, int... I>
constexpr auto distinct_letters(axis_list<Letters...> list, std::integer_sequence<int, I...>) {
  (void)list;
  return join_lists<optional_letter<Letters, axis_of_letter(axis_list<Letters...>{}, Letters) == I>...>{};
}
template <class List>
using distinct = decltype(distinct_letters(List{}, std::make_integer_sequence<int, List::count>{}));

/// Letters as their places in `Order`.
template <class Order, int... Letters>
constexpr auto number_letters(axis_list<Letters...>) {
  return axis_list<axis_of_letter(Order{}, Letters)...>{};
}
template <class List, class Order>
using numbered = decltype(number_letters<Order>(List{}));

template <auto Text, int Operand, int Rank>
struct einsum_operand {
  static constexpr auto part = Text.operand(Operand);
  static constexpr int width = Text.has_ellipsis(part) ? Rank - Text.letter_count(part) : 0;
  static constexpr bool fits = width >= 0 && Text.letter_count(part) + width == Rank;
  static constexpr int of(int position) { return Text.letter(part, position, width); }
  using type = decltype(list_axes<einsum_operand>(std::make_integer_sequence<int, Rank>{}));
};

/// The result's letters as written, or, as NumPy has it, the ellipsis and then every letter that stands once, sorted.
template <auto Text, class All, int Width>
struct einsum_result {
  static constexpr bool stands_once(int letter) {
    int count = 0;
    [&]<int... Letters>(axis_list<Letters...>) { ((count += Letters == letter ? 1 : 0), ...); }(All{});
    return count == 1;
  }
  static constexpr int rank = [] {
    if (Text.has_result()) return Text.letter_count(Text.result()) + (Text.has_ellipsis(Text.result()) ? Width : 0);
    int count = Width;
    for (int letter = 'A'; letter <= 'z'; ++letter) count += stands_once(letter) ? 1 : 0;
    return count;
  }();
  static constexpr int of(int position) {
    if (Text.has_result()) return Text.letter(Text.result(), position, Width);
    if (position < Width) return Text.ellipsis + Width - 1 - position;
    int letter = 'A';
    for (position -= Width; !stands_once(letter) || position-- != 0;) ++letter;
    return letter;
  }
  using type = decltype(list_axes<einsum_result>(std::make_integer_sequence<int, rank>{}));
  static_assert(std::is_same_v<type, distinct<type>>, "tenon: einsum names every axis of the result once");
  static_assert(other_letters<type, All>::count == 0,
                "tenon: einsum takes the letters of the result from its operands");
};

/// A node and the letters of its axes.
template <class Letters, class Node>
struct lettered {
  Node node;
};

template <class T, class Shape, class Space, class Owner, int... Letters, int... Kept>
auto merge_letters(const leaf<T, Shape, Space, Owner>& node, axis_list<Letters...>, axis_list<Kept...>) {
  const int letters[] = {Letters...};
  const int kept[] = {Kept...};
  array<index, sizeof...(Kept)> extents{}, strides{};
  for (int axis = 0; axis < Shape::rank; ++axis) {
    for (int place = 0; place < extents.size(); ++place) {
      if (kept[place] != letters[axis]) continue;
      extents[place] = node.shape().extent(axis);
      strides[place] += node.view().strides()[axis];
    }
  }
  using new_shape = shape<Shape::static_extent(axis_of_letter(axis_list<Letters...>{}, Kept))...>;
  return leaf_under(node, view<const T, new_shape, Space>(node.view().data(), new_shape(extents), strides));
}

/// Whether a node is elements in memory through which no gradient flows.
template <class Node>
inline constexpr bool is_plain_leaf = false;
template <class T, class Shape, class Space, class Owner>
inline constexpr bool is_plain_leaf<leaf<T, Shape, Space, Owner>> =
    std::is_same_v<Owner, no_owner> || std::is_same_v<Owner, lie_in_place> || std::is_same_v<Owner, held_here>;

/// The first axis that bears the letter of an axis before it, behind that one; (0, 0) where there is none.
template <int... Letters>
constexpr array<int, 2> first_pair(axis_list<Letters...>) {
  const array<int, sizeof...(Letters)> letters{{Letters...}};
  for (int second = 1; second < letters.size(); ++second) {
    for (int first = 0; first < second; ++first) {
      if (letters[first] == letters[second]) return {{first, second}};
    }
  }
  return {{0, 0}};
}

/// The letters but those of two axes, and that of these at the end; of a diagonal.
template <int First, int Second, int... Letters>
auto letters_of_diagonal(axis_list<Letters...>) {
  constexpr array<int, sizeof...(Letters)> letters{{Letters...}};
  return [&]<int... I>(std::integer_sequence<int, I...>) {
    return axis_list<letters[axis_beside_diagonal<First, Second>(I)]..., letters[First]>{};
  }(std::make_integer_sequence<int, static_cast<int>(sizeof...(Letters)) - 2>{});
}

/// The diagonals of axes that bear the same letter, each at the end.
template <class Letters, class Node>
auto take_diagonals(const Node& node) {
  using kept = distinct<Letters>;
  if constexpr (std::is_same_v<Letters, kept>) {
    return lettered<Letters, Node>{node};
  } else if constexpr (is_plain_leaf<Node>) {
    const auto merged = merge_letters(node, Letters{}, kept{});
    return lettered<kept, std::remove_const_t<decltype(merged)>>{merged};
  } else {
    constexpr array<int, 2> axes = first_pair(Letters{});
    using letters = decltype(letters_of_diagonal<axes[0], axes[1]>(Letters{}));
    return take_diagonals<letters>(diagonal(node, 0, axis<axes[0], axes[1]>));
  }
}

/// `node` over the letters of `Order` that it has, in that order, the others of its letters summed.
template <class Order, class Letters, class Node>
auto sum_other_letters(const lettered<Letters, Node>& operand) {
  return [&]<class Distinct, class Taken>(const lettered<Distinct, Taken>& taken) {
    using kept = common_letters<Order, Distinct>;
    using order = join_lists<kept, other_letters<Distinct, kept>>;
    if constexpr (std::is_same_v<Distinct, kept>) {
      return taken;
    } else {
      const auto ordered = spread_letters<numbered<Distinct, order>, order::count>(taken.node);
      const auto result = sum_trailing<kept::count>(ordered);
      return lettered<kept, std::remove_const_t<decltype(result)>>{result};
    }
  }(take_diagonals<Letters>(operand.node));
}

/// The sum of products of any number of operands, two after two from the left.
template <class Result, class Letters, class Node>
auto fold_products(const lettered<Letters, Node>& operand) {
  return sum_other_letters<Result>(operand).node;
}
template <class Result, class LeftLetters, class Left, class RightLetters, class Right, class... Letters,
          class... Nodes>
auto fold_products(const lettered<LeftLetters, Left>& left, const lettered<RightLetters, Right>& right,
                   const lettered<Letters, Nodes>&... rest) {
  using needed = join_lists<Result, Letters...>;
  using kept = std::conditional_t<sizeof...(rest) == 0, Result,
                                  common_letters<distinct<join_lists<LeftLetters, RightLetters>>, needed>>;
  using depth = other_letters<distinct<common_letters<LeftLetters, RightLetters>>, kept>;
  using order = join_lists<kept, depth>;
  const auto a = sum_other_letters<common_letters<distinct<LeftLetters>, order>>(left);
  const auto b = sum_other_letters<common_letters<distinct<RightLetters>, order>>(right);
  const auto product = [&]<class A, class NodeA, class B, class NodeB>(const lettered<A, NodeA>& x,
                                                                       const lettered<B, NodeB>& y) {
    return contract_letters<kept::count, numbered<A, order>, numbered<B, order>>(x.node, y.node);
  }(a, b);
  return fold_products<Result>(lettered<kept, std::remove_const_t<decltype(product)>>{product}, rest...);
}

/// Whether static extents of axes that bear the same letter agree.
template <class All, class... Shapes>
constexpr bool static_letters_agree() {
  constexpr int count = (0 + ... + Shapes::rank);
  array<index, count> extents{};
  int axis = 0;
  (static_cast<void>([&] {
     for (int own = 0; own < Shapes::rank; ++own) extents[axis++] = Shapes::static_extent(own);
   }()),
   ...);
  return [&]<int... Letters>(axis_list<Letters...>) {
    [[maybe_unused]] int place = 0;
    [[maybe_unused]] const auto agrees = [&](int letter) {
      const index extent = extents[place++], first = extents[axis_of_letter(All{}, letter)];
      return letter >= einsum_text<1>::ellipsis || extent == first || extent == dyn || first == dyn;
    };
    return (agrees(Letters) && ...);
  }(All{});
}

/// throws    shape_error, which lists the operands
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_letter(const char* letter, const char* text,
                                                                 const array<index, 2>& found,
                                                                 const extents_view* operands, int count) {
  std::string list = compose_text(count == 1 ? "operand " : "operands ", operands[0]);
  for (int i = 1; i < count; ++i) list += compose_text(i == count - 1 ? " and " : ", ", operands[i]);
  throw shape_error(compose_text("einsum: letter ", letter, " of ", text, ": extents ", found[0], " and ", found[1],
                                 " differ (", list.c_str(), ")"));
}

/// Every axis of every operand that bears the same letter has the same extent; along an ellipsis it may be 1.
template <class... Shapes, class All>
constexpr void check_letters(All, const char* text, const Shapes&... shapes) {
  constexpr int count = (0 + ... + Shapes::rank);
  array<index, count> extents{};
  int axis = 0;
  const auto append = [&](const auto& extents_of_operand) {
    for (const index extent : extents_of_operand) extents[axis++] = extent;
  };
  (append(shapes.to_array()), ...);
  const array<int, count> letters = [&]<int... Letters>(axis_list<Letters...>) {
    array<int, count> result{};
    int place = 0;
    ((result[place++] = Letters), ...);
    return result;
  }(All{});
  for (int place = 0; place < count; ++place) {
    int first = 0;
    while (letters[first] != letters[place]) ++first;
    const bool repeats = letters[place] >= einsum_text<1>::ellipsis && (extents[place] == 1 || extents[first] == 1);
    if (extents[place] == extents[first] || repeats) continue;
    const char letter[] = {letters[place] < einsum_text<1>::ellipsis ? static_cast<char>(letters[place]) : '.', '\0'};
    const auto refuse = [&](const auto&... all) {
      const extents_view operands[] = {{all.begin(), all.size()}...};
      refuse_letter(letter, text, {{extents[first], extents[place]}}, operands, static_cast<int>(sizeof...(all)));
    };
    refuse(shapes.to_array()...);
  }
}

/// The terms of a text beside the shapes of their operands.
template <auto Text, class Sequence, class... Shapes>
struct einsum_terms;
template <auto Text, int... I, class... Shapes>
struct einsum_terms<Text, std::integer_sequence<int, I...>, Shapes...> {
  using letters = join_lists<typename einsum_operand<Text, I, Shapes::rank>::type...>;
  static constexpr bool fit = (einsum_operand<Text, I, Shapes::rank>::fits && ...);
  static constexpr bool agree = static_letters_agree<letters, Shapes...>();

  template <class... Nodes>
  static auto contract(const Nodes&... nodes) {
    constexpr int width = greatest_size({einsum_operand<Text, I, Shapes::rank>::width...});
    check_letters(letters{}, Text.characters, nodes.shape()...);
    return fold_products<typename einsum_result<Text, letters, width>::type>(
        lettered<typename einsum_operand<Text, I, Shapes::rank>::type, Nodes>{nodes}...);
  }
};

}  // namespace detail

/// The sum of products that `Text` writes down: `einsum<"ij,jk->ik">(a, b)` is a matrix product, `"ii->i"` a diagonal,
/// `"ij->ji"` a transposition, `"i,j->ij"` an outer product. Letters that the result lacks are summed; without "->" the
/// result has every letter that stands once, in alphabetical order; "..." stands for any further axes, which broadcast.
/// types     promoted; half and bfloat16 accumulate in float, integers in 64 bits
/// throws    shape_error when axes of one letter have different extents
/// cost      two operands: one kernel, pointwise operands included; more are multiplied two after two from the left
/// example   z = einsum<"ij,jk->ik">(x, y);
template <einsum_text Text, tensor_operand... Operands>
auto einsum(Operands&&... operands) {
  static_assert(Text.is_valid(), "tenon: einsum takes letters, spaces, commas, ellipses and one \"->\"");
  static_assert(Text.operand_count() == static_cast<int>(sizeof...(Operands)),
                "tenon: einsum takes as many operands as its text has terms");
  using terms = detail::einsum_terms<Text, std::make_integer_sequence<int, static_cast<int>(sizeof...(Operands))>,
                                     typename std::remove_cvref_t<Operands>::shape_type...>;
  static_assert(terms::fit, "tenon: einsum names every axis of an operand by one letter");
  if constexpr (terms::fit) {
    static_assert(terms::agree, "tenon: axes of one letter of einsum must have one extent");
    return terms::contract(as_node(std::forward<Operands>(operands))...);
  }
}

}  // namespace tenon
