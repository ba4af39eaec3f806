// tests/ptx/moves.cpp: moves: registers, numbers, addresses of variables; packing; addresses from one kind to another.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/decode.hpp"
#include "ptx/lanes.hpp"
#include "ptx/races.hpp"

namespace tenon_test::ptx {

namespace {

/// The parts of a register, from the lowest bits on.
template <class Whole, class Part>
void pack(warp& w, const instruction& in, lane_set active) {
  alignas(64) Whole values[warp_lanes]{};
  for (unsigned part = 0; part < in.count; ++part) {
    const Part* const from = w.at<Part>(w.code.lists[in.first + part]);
    for (int i = 0; i < warp_lanes; ++i)
      values[i] = static_cast<Whole>(values[i] | static_cast<Whole>(Whole{from[i]} << (8 * sizeof(Part) * part)));
  }
  keep(w.at<Whole>(in.to), values, active);
}
template <class Whole, class Part>
void unpack(warp& w, const instruction& in, lane_set active) {
  alignas(64) Whole whole[warp_lanes];
  std::memcpy(whole, w.at<Whole>(in.a), sizeof(whole));
  for (unsigned part = 0; part < in.count; ++part) {
    alignas(64) Part values[warp_lanes];
    for (int i = 0; i < warp_lanes; ++i) values[i] = static_cast<Part>(whole[i] >> (8 * sizeof(Part) * part));
    keep(w.at<Part>(w.code.lists[in.first + part]), values, active);
  }
}

bool decode_packing(decoder& d, int bytes) {
  const bool packs = d.at(1).what == operand::list;
  const auto parts = static_cast<int>((packs ? d.at(1) : d.at(0)).parts.size());
  const int each = bytes / parts;
  if (bytes == 4 && each == 2)
    d.made.run = packs ? &pack<std::uint32_t, std::uint16_t> : &unpack<std::uint32_t, std::uint16_t>;
  else if (bytes == 8 && each == 4)
    d.made.run = packs ? &pack<std::uint64_t, std::uint32_t> : &unpack<std::uint64_t, std::uint32_t>;
  else if (bytes == 8 && each == 2)
    d.made.run = packs ? &pack<std::uint64_t, std::uint16_t> : &unpack<std::uint64_t, std::uint16_t>;
  else return false;
  d.add_list(packs ? 1 : 0, each, !packs);
  if (packs) d.made.to = d.target(0, bytes);
  else d.made.a = d.source(1, bytes);
  return true;
}

/// `a` plus a number: the address of a parameter.
void add_offset(warp& w, const instruction& in, lane_set active) {
  alignas(64) std::uint64_t values[warp_lanes];
  for (int i = 0; i < warp_lanes; ++i) values[i] = w.at<std::uint64_t>(in.a)[i] + static_cast<std::uint64_t>(in.offset);
  keep(w.at<std::uint64_t>(in.to), values, active);
}

/// An address in shared memory becomes a generic one, or the other way round.
template <bool ToGeneric, class Target, class Source>
void convert_shared(warp& w, const instruction& in, lane_set active) {
  alignas(64) Target values[warp_lanes];
  const std::uint64_t begin = w.in.shared().begin();
  for (int i = 0; i < warp_lanes; ++i)
    values[i] = static_cast<Target>(ToGeneric ? w.at<Source>(in.a)[i] + begin : w.at<Source>(in.a)[i] - begin);
  keep(w.at<Target>(in.to), values, active);
}

/// The same where the address may be that of another block of the cluster.
void convert_cluster(warp& w, const instruction& in, lane_set active) {
  alignas(64) std::uint64_t values[warp_lanes]{};
  for (lane_set left = active; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const std::uint64_t a = w.at<std::uint64_t>(in.a)[lane];
    values[lane] =
        in.kind != 0 ? reinterpret_cast<std::uint64_t>(place_in_cluster(w, a).memory()) : cluster_address(w, a);
  }
  keep(w.at<std::uint64_t>(in.to), values, active);
}

void convert_local(warp& w, const instruction& in, lane_set active) {
  alignas(64) std::uint64_t values[warp_lanes];
  for (int i = 0; i < warp_lanes; ++i) {
    const std::uint64_t begin = local_begin(w, i), a = w.at<std::uint64_t>(in.a)[i];
    values[i] = in.kind != 0 ? a + begin : a - begin;
  }
  keep(w.at<std::uint64_t>(in.to), values, active);
}

bool decode_address_conversion(decoder& d) {
  const bool to_generic = d.part(1) != "to";
  const std::string_view kind = to_generic ? d.part(1) : d.part(2);
  const int bytes = bytes_of_type(d.part(-1));
  if (bytes != 8) return false;
  d.made.to = d.target(0, bytes);
  d.made.a = d.source(1, bytes);
  if (kind == "shared::cluster") {
    d.made.run = &convert_cluster;
    d.made.kind = to_generic ? 1 : 0;
  } else if (kind.substr(0, 6) == "shared") {
    d.made.run = to_generic ? &convert_shared<true, std::uint64_t, std::uint64_t>
                            : &convert_shared<false, std::uint64_t, std::uint64_t>;
  } else if (kind == "local") {
    d.made.run = &convert_local;
    d.made.kind = to_generic ? 1 : 0;
  } else if (kind == "global" || kind == "param" || kind == "const") {
    d.made.run = unary<std::uint64_t, std::uint64_t>([](std::uint64_t a) { return a; });
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool decode_moves(decoder& d) {
  if (d.part(0) == "cvta") return decode_address_conversion(d);
  if (d.part(0) != "mov" || d.part(-1) == "pred") return false;
  const int bytes = bytes_of_type(d.part(-1));
  if (d.at(0).what == operand::list || d.at(1).what == operand::list) return decode_packing(d, bytes);
  d.made.to = d.target(0, bytes);
  if (d.is_parameter(d.at(1))) {
    d.parameter_address(d.at(1));
    d.made.run = &add_offset;
    return true;
  }
  d.made.run = for_bits(bytes, []<class T>() { return unary<T, T>([](T a) { return a; }); });
  if (d.made.run == nullptr) return false;
  d.made.a = d.source(1, bytes);
  return true;
}

}  // namespace tenon_test::ptx
