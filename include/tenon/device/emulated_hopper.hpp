// tenon/device/emulated_hopper.hpp: the operations of Hopper for emulated kernels.
// They are really asynchronous: tiles land late, sums are NaN until a wait for them, deadlocks are reported.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/emulated.hpp>
#include <tenon/device/emulated_copies.hpp>
#include <tenon/device/emulated_warpgroup.hpp>

namespace tenon {

/// A map, as the emulation of copies reads it.
struct emulated_tile_map {
  tiled_images images;
  int element_bytes;
  bool rounds_to_tf32;
};

template <>
struct tile_maps<emulated> {
  using map = emulated_tile_map;

  template <class T, class Tensor>
  static bool takes(const Tensor& tensor) {
    return has_nested_strides(tensor, stored_bytes<T>);
  }
  template <class T>
  static map make(const tiled_images& images) {
    check_tensor<T>(images);
    return {images, stored_bytes<T>, std::is_same_v<T, tf32>};
  }
  template <class T>
  static map make(const tiled_tensor& tensor) {
    check_tensor<T>(tensor);
    const auto& extents = tensor.extents;
    const auto& strides = tensor.stride_bytes;
    return {{tensor.data,
             {{extents[0], extents[1], extents[2], 1, 1}},
             {{strides[0], strides[1], 0, 0}},
             {{tensor.tile[0], tensor.tile[1], 1, 1, 1}},
             filled_array<5>(1)},
            stored_bytes<T>,
            std::is_same_v<T, tf32>};
  }

 private:
  /// Refuses a tensor that a driver might refuse.
  template <class T, class Tensor>
  static void check_tensor(const Tensor& tensor) {
    check_tiled_tensor(tensor, stored_bytes<T>);
    if (takes<T>(tensor)) return;
    throw shape_error(compose_text("tiled_tensor: strides: ", tensor.stride_bytes, " bytes for a tensor of ",
                                   tensor.extents,
                                   ", expected each a multiple of the one before, over all of its axis"));
  }
};

namespace detail {

/// What Hopper's units of an emulated block are doing.
class hopper_work : public background_work {
 public:
  explicit hopper_work(block_schedule& schedule)
      : schedule_(schedule),
        copies(schedule),
        warpgroups(static_cast<std::size_t>(schedule.shape.block / warpgroup_size), emulated_warpgroup(schedule)),
        registers_(warpgroups.size()) {}

  static hopper_work& of(const emulated_thread& self) {
    const unobserved quiet;
    block_schedule& schedule = *self.schedule;
    if (schedule.shape.block % warpgroup_size != 0) schedule.refuse(self, "hopper: expected whole warpgroups");
    if (schedule.background == nullptr) schedule.background = std::make_unique<hopper_work>(schedule);
    return static_cast<hopper_work&>(*schedule.background);
  }
  emulated_warpgroup& warpgroup_of(const emulated_thread& self) { return warpgroups[number_of(self)]; }

  /// Notes how many registers the threads of a warpgroup have from here on.
  void change_registers(emulated_thread& self, int registers, source_position caller) {
    warpgroup_of(self).meet(self, "registers", caller, [&] { registers_[number_of(self)] = registers; });
    constexpr int of_multiprocessor = 512;  // for each thread of a warpgroup
    int total = 0;
    for (const int each : registers_) total += each;
    if (total > of_multiprocessor) {
      schedule_.refuse(self, compose_text("registers at ", at_text(caller), ": warpgroups hold ", total,
                                          " together, expected at most ", of_multiprocessor));
    }
  }

  bool advance(shuffler& random) override {
    const unobserved quiet;
    return copies.land_one(random);
  }
  void end() const override {
    bool is_idle = copies.is_idle();
    for (const emulated_warpgroup& each : warpgroups) is_idle = is_idle && each.is_idle();
    if (is_idle) return;
    throw barrier_error(compose_text("emulated ", schedule_.body.name,
                                     ": all threads have returned, but tiles or products are under way"));
  }
  std::string wait_text() const override {
    std::string text = copies.wait_text();
    for (const emulated_warpgroup& each : warpgroups) text += each.wait_text();
    return text;
  }

 private:
  static std::size_t number_of(const emulated_thread& self) {
    return static_cast<std::size_t>(self.user.thread / warpgroup_size);
  }

  block_schedule& schedule_;

 public:
  tile_copies copies;
  std::vector<emulated_warpgroup> warpgroups;

 private:
  std::vector<int> registers_;
};

}  // namespace detail

/// Hopper's operations on `emulated`.
/// throws    barrier_error, race_error, index_error where a kernel breaks a rule
template <>
class hopper_unit<emulated_device> {
 public:
  using tile_map = emulated_tile_map;
  using barriers = shared_array<phase_barrier>;

  explicit hopper_unit(emulated_device& device) : self_(device.self_), work_(detail::hopper_work::of(self_)) {}

  static constexpr bool is_available() { return true; }

  void make_barrier(const barriers& at, int i, int arrivals, source_position caller = {}) {
    const detail::unobserved quiet;
    work_.copies.make_barrier(self_, at.offset_of(i), arrivals, caller);
  }
  void show_barriers() {
    const detail::unobserved quiet;
    work_.copies.show_barriers(self_);
  }
  void arrive(const barriers& at, int i, source_position caller = {}) { arrive_expecting(at, i, 0, caller); }
  /// Arrives, and announces bytes that tiles bring.
  void arrive_expecting(const barriers& at, int i, int bytes, source_position caller = {}) {
    const detail::unobserved quiet;
    work_.copies.arrive(self_, at.offset_of(i), bytes, caller);
  }
  /// Waits until the phase of that parity has ended.
  void wait(const barriers& at, int i, int parity, source_position caller = {}) {
    const detail::unobserved quiet;
    work_.copies.wait(self_, at.offset_of(i), parity, caller);
  }

  /// Starts to copy the tile at `position` of a tensor; the barrier learns of its bytes when they are there.
  template <class T>
  void copy_tile(const shared_array<T>& to, const tile_map& from, const array<int, 3>& position, const barriers& at,
                 int i, source_position caller = {}) {
    copy_image_tile(to, from, {{position[0], position[1], position[2], 0, 0}}, at, i, caller);
  }
  template <class T>
  void copy_image_tile(const shared_array<T>& to, const tile_map& from, const array<int, 5>& position,
                       const barriers& at, int i, source_position caller = {}) {
    const detail::unobserved quiet;
    const detail::emulated_tile_copy copy{&from.images, from.element_bytes, from.rounds_to_tf32,
                                          position,     to.offset_of(0),    at.offset_of(i)};
    if (copy.bytes() > to.size() * static_cast<int>(sizeof(T))) {
      self_.schedule->refuse(self_, compose_text("copy_tile at ", detail::at_text(caller), ": beyond the array"));
    }
    work_.copies.copy_tile(self_, copy, caller);
  }
  void prefetch_map(const tile_map&) {}

  /// From here on, each thread of the warpgroup has this many registers.
  template <int Registers>
  void give_registers(source_position caller = {}) {
    change_registers<Registers>(caller);
  }
  template <int Registers>
  void take_registers(source_position caller = {}) {
    change_registers<Registers>(caller);
  }

  template <class T>
  operand_descriptor describe(const shared_array<T>& tile, int first, int leading_bytes, int stride_bytes) {
    return operand_descriptor::of(static_cast<unsigned>(tile.offset_of(first)), leading_bytes, stride_bytes);
  }
  /// Must come before the first product after the sums were read or written.
  void begin_products() {
    const detail::unobserved quiet;
    work_.warpgroup_of(self_).begin_products(self_);
  }
  /// sums = left * right, plus sums where `adds`. The sums are NaN until a wait for all products.
  template <class Product>
  void multiply(std::uint32_t (&sums)[Product::sums], operand_descriptor left, operand_descriptor right, bool adds,
                source_position caller = {}) {
    const detail::unobserved quiet;
    using element = typename Product::element;
    constexpr int bytes = stored_bytes<element>;
    work_.warpgroup_of(self_).multiply(self_,
                                       {{left, Product::left_has_rows_adjacent, product_rows, bytes},
                                        {right, Product::right_has_columns_adjacent, Product::columns, bytes},
                                        sums,
                                        adds,
                                        is_integer<element>,
                                        detail::multiplied_number<element>},
                                       caller);
  }
  /// Ends a group of products.
  void commit_products() {
    const detail::unobserved quiet;
    work_.warpgroup_of(self_).commit_products(self_);
  }
  /// Waits until at most the `Groups` youngest groups are under way. What the finished ones read may be overwritten.
  template <int Groups>
  void wait_products(source_position caller = {}) {
    const detail::unobserved quiet;
    work_.warpgroup_of(self_).wait_products(self_, Groups, caller);
  }
  /// Waits for all products; `sums` may be read from here on.
  template <int Count>
  void finish_products(std::uint32_t (&)[Count], source_position caller = {}) {
    wait_products<0>(caller);
  }

 private:
  template <int Registers>
  void change_registers(source_position caller) {
    static_assert(Registers % 8 == 0 && Registers >= 24 && Registers <= 256,
                  "tenon: a thread has 24 to 256 registers, a multiple of 8");
    const detail::unobserved quiet;
    work_.change_registers(self_, Registers, caller);
  }

  detail::emulated_thread& self_;
  detail::hopper_work& work_;
};

}  // namespace tenon
