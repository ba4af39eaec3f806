// tests/ptx/grid.hpp: what runs: grids of blocks, blocks of warps, warps of fragments whose lanes are at one place.
// Warps take turns by a seeded draw. All lanes of a warp that are at one place run an instruction together.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <random>

#include "ptx/memory.hpp"

namespace tenon_test::ptx {

/// Says of blocks that ran before which of them are known to be done.
class order_of_launches {
 public:
  order_of_launches() = default;
  order_of_launches(const order_of_launches&) = delete;
  order_of_launches& operator=(const order_of_launches&) = delete;
  virtual ~order_of_launches() = default;
  virtual bool is_before(std::uint32_t block) const = 0;
};

/// What a launch asks for.
struct launch {
  const kernel* code = nullptr;
  triple grid, block;
  triple cluster = {};             ///< blocks of a cluster
  std::uint32_t shared_bytes = 0;  ///< beside those that the kernel declares
  std::vector<unsigned char> parameters;
  bool is_cooperative = false;
  bool counts_traffic = false;   ///< of memory
  bool starts_in_order = false;  ///< blocks with low numbers first; else their order is drawn
  std::uint64_t seed = 1;
  std::uint32_t first_unordered = ~std::uint32_t{0};  ///< all blocks with lower numbers are done
  const order_of_launches* order = nullptr;           ///< which knows of the others
};

/// The latest clocks of others that are known to have passed.
using clocks = std::vector<std::uint32_t>;
void join(clocks& known, const clocks& more);

class grid;
class block;
class cluster;

/// Bytes on their way by cp.async; they arrive when they are waited for.
struct async_copy {
  int lane;
  std::uint32_t group;
  std::uint32_t to;  ///< in shared memory
  const unsigned char* from;
  int bytes, valid;
};

/// Changes memory by the values of a copy that reduces.
using combiner = void (*)(unsigned char* memory, const unsigned char* values, std::size_t bytes);

/// Bytes on their way to global memory by cp.async.bulk.
struct bulk_store {
  int lane = 0;
  std::uint32_t group = 0;
  std::uint32_t from = 0;  ///< in shared memory
  std::uintptr_t to = 0;
  std::vector<unsigned char> values = {};  ///< empty until they are read
  int bytes = 0;
  combiner combine = nullptr;  ///< nullptr: values replace what was there
};

/// A product of a warpgroup that was begun; it is done when it is waited for.
struct async_product {
  const instruction* what;
  std::uint64_t left, right;
  bool adds;
  std::uint32_t group;
};

/// 32 lanes.
class warp {
 public:
  warp(block& in, int number, lane_set lanes);
  warp(const warp&) = delete;
  warp& operator=(const warp&) = delete;
  ~warp();

  block& in;
  const kernel& code;
  const int number;                                       ///< within the block
  const std::size_t place_in_cluster;                     ///< its number among the cluster's warps
  std::array<unsigned char*, 2> bases;                    ///< of registers and of constants
  lane_set live;                                          ///< lanes that have not ended
  std::uint32_t clock = 1;                                ///< counts synchronisations
  clocks seen;                                            ///< of the cluster's warps
  clocks fenced, read;                                    ///< as those of a block, within a cluster
  std::uint32_t cluster_arrivals = 0, cluster_waits = 0;  ///< at the cluster's barrier
  std::array<std::uint32_t, warp_lanes> copy_groups{};    ///< of each lane: commits of cp.async so far
  std::deque<async_copy> copies;
  std::array<std::uint32_t, warp_lanes> store_groups{};  ///< the same of cp.async.bulk
  std::vector<bulk_store> stores;
  std::uint32_t product_groups = 0;
  std::deque<async_product> products;
  bool has_product_fence = false;  ///< of wgmma, so that products find registers as they are
  /// Of each register of sums: how many products under way have it; whether it was used since the latest fence.
  std::vector<std::uint8_t> sums_under_way, used_sums;
  std::size_t register_settings = 0;  ///< setmaxnreg so far
  region* recent = nullptr;           ///< of global memory, used last
  bool is_waiting = false;            ///< at a barrier
  bool waits_for_cluster = false;     ///< at that of the cluster
  bool gives_way = false;             ///< ends its turn
  const instruction* barrier = nullptr;

  std::unique_ptr<region> local;  ///< the lanes' own memory, one after another; nullptr: they have none

  template <class Value>
  Value* at(slot where) const {
    return reinterpret_cast<Value*>(bases[where.is_constant] + where.offset);
  }
  lane_set predicate(slot where) const { return *at<lane_set>(where); }
  bool is_done() const { return live == 0; }
  /// Puts its own clock among those that it has seen, which others take up.
  void show_clock();

  /// Runs so many instructions, or until it ends, waits or gives way.
  void run(int steps, counts& done);
  /// Where the warp is, for messages.
  std::string place() const;

 private:
  struct fragment {
    std::uint32_t pc;
    lane_set lanes;
    bool waits;
  };
  static constexpr std::uint32_t nowhere = ~std::uint32_t{0};

  void split(std::uint32_t target, lane_set taken);
  void leave(lane_set lanes);
  bool gather(const instruction& what, lane_set active);
  void meet();
  void choose_lowest();
  void choose(std::size_t which);
  void fill_specials();

  aligned_bytes<64> registers_;
  aligned_bytes<16> local_bytes_;
  std::uint32_t pc_ = 0, other_pc_ = nowhere;
  lane_set here_;
  std::vector<fragment> others_;
  bool is_out_of_order_ = false;
};

/// One of the 16 barriers of a block.
struct barrier {
  std::uint32_t threads = 0, expected = 0;  ///< expected 0: all that live
  std::vector<warp*> waiting;
  clocks known;
  std::uint32_t votes = 0;  ///< threads whose predicate holds, of bar.red
};

/// A setmaxnreg of a warpgroup: who came to it, and when.
struct register_setting {
  const instruction* what;
  std::array<std::uint32_t, 4> clocks{};
};

/// An mbarrier in shared memory.
struct phase {
  std::uint32_t expected = 0, pending = 0;
  std::int64_t bytes = 0;  ///< that are still to come
  std::uint32_t number = 0;
  stamp made = {};
  bool is_shown = false;          ///< to copies of tiles, by a fence
  std::uint32_t shown_after = 0;  ///< so many arrivals at the cluster's barrier
  clocks known = {};
  clocks known_in_cluster = {};  ///< of arrivals from other blocks, for whoever waits for them
  clocks arrivals = {};          ///< the arrivals from other blocks themselves
  std::vector<std::function<std::int64_t()>> copies = {};  ///< under way; each returns its bytes
};

/// The threads that share memory.
class block {
 public:
  block(grid& of, cluster& mates, triple index, std::uint32_t rank);

  grid& of;
  cluster& mates;
  const triple index;
  const std::uint32_t rank;    ///< within the cluster
  const std::uint32_t number;  ///< among all blocks that ever ran
  std::uint32_t clock = 1;
  clocks seen;    ///< of the grid's blocks
  clocks fenced;  ///< what was seen at the latest fence
  clocks read;    ///< what words that were read have brought, and the next fence shows
  std::vector<std::unique_ptr<warp>> warps;
  region& shared() { return *shared_; }
  std::map<std::uint32_t, phase> phases;      ///< by address in shared memory
  std::map<std::uintptr_t, clocks> released;  ///< by address of what was changed in shared memory
  int unread_stores = 0;                      ///< copies that are still to read its shared memory
  clocks used_from_afar;                      ///< of warps of other blocks that used shared memory
  clocks arrived_from_afar;                   ///< of those whose arrival at an mbarrier was waited for
  std::map<int, std::vector<register_setting>> register_settings;  ///< by warpgroup

  bool is_done() const { return live_warps_ == 0; }
  /// As that of a warp; what the block does from here on has a later clock.
  void show_clock();
  void arrive(warp& who, std::uint32_t id, std::uint32_t expected, bool waits, std::uint32_t votes);
  void end(warp& who);

 private:
  void complete(barrier& at);
  void check_end();
  std::uint32_t live_threads() const;

  aligned_bytes<1024> memory_;
  std::unique_ptr<region> shared_;
  std::array<barrier, 16> barriers_;
  std::size_t live_warps_ = 0;
};

/// Blocks that reach each other's shared memory. Without clusters each block is one of its own.
class cluster {
 public:
  explicit cluster(triple first) : first_block(first) {}

  const triple first_block;
  std::vector<std::unique_ptr<block>> blocks;  ///< by rank
  std::map<std::uintptr_t, clocks> released;   ///< by address, as those of a grid

  bool is_done() const;
  /// The block whose shared memory holds an address of the host; nullptr: none.
  block* find(std::uintptr_t address) const;
  /// The barrier of all threads of the cluster that live.
  void arrive(warp& who, bool releases);
  void wait(warp& who);
  void complete_if_all_arrived();

 private:
  /// What those who came to the barrier knew.
  struct knowledge {
    clocks warps, blocks;
  };
  void pass(warp& who);

  knowledge coming_, known_;
  std::uint32_t phases_ = 0;
};

/// One launch.
class grid {
 public:
  explicit grid(const launch& of);
  grid(const grid&) = delete;
  grid& operator=(const grid&) = delete;
  ~grid();

  const launch& asked;
  const aligned_bytes<64> parameter_bytes;
  const std::uint32_t first_block;  ///< the number of the first block
  region parameters;
  std::map<std::uintptr_t, clocks> released;  ///< by address in global memory
  std::mt19937_64 random;
  counts done;
  std::vector<region*> touched;  ///< allocations

  /// Runs to the end; throws fault.
  void run();
  std::uint32_t block_place(std::uint32_t number) const { return number - first_block; }

 private:
  void start(triple first);
  bool run_block(block& each);
  void run_warp(warp& chosen);
  [[noreturn]] void report_deadlock();

  std::vector<triple> waiting_;  ///< positions of the first blocks of clusters to come
  std::vector<std::unique_ptr<cluster>> clusters_;
  std::vector<block*> resident_;
  int idle_turns_ = 0;
};

inline constexpr std::uint32_t first_shared_byte = 1024;  ///< below lies what the system takes

}  // namespace tenon_test::ptx
