# The programs of the preset test-ptx: in `ptx_programs_of_files` their names, in `ptx_files_of_<name>` the test files that
# each compiles together. The preset `cuda` leaves these files out. What takes longest to compile comes first, so that no
# core waits for it in the end.
# SPDX-License-Identifier: Apache-2.0
set(ptx_programs_of_files
  others rows counted mma patches convolutions simt reduce wmma hopper packets device recurrent graph)
set(ptx_files_of_others ptx/runtime/every_kernel.cpp ptx/runtime/clusters.cpp device/launch_number.cpp)
set(ptx_files_of_packets kernels/packets.cpp)
set(ptx_files_of_counted ptx/runtime/counted.cpp ptx/runtime/maps.cpp)
set(ptx_files_of_graph device/graph.cpp device/launch_clock.cpp)
set(ptx_files_of_reduce kernels/reduce.cpp)
set(ptx_files_of_rows kernels/columns.cpp kernels/fold.cpp kernels/held_rows.cpp kernels/long_rows.cpp
  kernels/pointwise.cpp kernels/rows.cpp kernels/transposed.cpp)
set(ptx_files_of_mma contraction/mma.cpp)
set(ptx_files_of_wmma contraction/wmma.cpp)
set(ptx_files_of_simt contraction/simt.cpp)
set(ptx_files_of_hopper contraction/hopper.cpp contraction/hopper_matrices.cpp)
set(ptx_files_of_convolutions contraction/hopper_convolution.cpp contraction/hopper_windows.cpp)
set(ptx_files_of_patches contraction/numbered_patches.cpp)
set(ptx_files_of_recurrent nn/recurrent_tiles.cpp)
set(ptx_files_of_device
  device/collective.cpp device/cuda.cpp device/cuda_grid.cpp device/cuda_hopper.cpp device/cuda_matrix.cpp
  device/cuda_memory.cpp device/cuda_tile_map.cpp device/device_guard.cpp device/emulated.cpp
  device/emulated_copies.cpp device/emulated_grid.cpp device/emulated_hopper.cpp device/emulated_matrix.cpp
  device/emulated_warpgroup.cpp device/fragment.cpp device/freeing_streams.cpp device/hopper.cpp device/launch.cpp
  device/profiler_range.cpp device/runtime.cpp device/schedule.cpp device/shared_memory.cpp device/simd_steps.cpp
  device/stream.cpp device/workspace.cpp)
