// tests/fuzz/files.cpp: files damaged at random, thousands of each kind, and memory that runs out while they are read.
// A reader takes them or throws file_error; anything else, a crash or a sanitizer's report included, is a fault.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/wait.h>

#include <tenon/data/image_folder.hpp>
#include <tenon/device/sanitizer.hpp>
#include <tenon/io/csv.hpp>
#include <tenon/io/idx.hpp>
#include <tenon/io/npz.hpp>
#include <tenon/io/png.hpp>
#include <tenon/io/safetensors.hpp>
#include <tenon/io/text.hpp>

#include "fuzz/readers/damage.hpp"
#include "support/deflated.hpp"
#include "support/failing_allocation.hpp"
#include "support/stored_archive.hpp"
#include "support/text_of.hpp"

namespace io = tenon::io;

namespace {

template <class Write>
fuzz::bytes written(const Write& write) {
  const fuzz::memory_file file("good");
  write(file.path);
  return io::read_bytes("fuzz", file.path);
}

/// Reads a file while each of its larger blocks of memory fails in turn, and then none does.
template <class Read>
void check_little_memory(const fuzz::bytes& content, const Read& read) {
  const fuzz::memory_file file("memory");
  file.write(content);
  int failures = 0;
  for (bool is_read = false; !is_read && failures < 1000;) {
    std::string refusal;
    tenon_test::blocks_left = failures;
    try {
      read(file.path);
      is_read = true;
    } catch (const tenon::file_error& refused) {
      refusal = refused.what();
    }
    tenon_test::blocks_left = -1;
    if (is_read) break;
    ++failures;
    CHECK(tenon_test::has(refusal, file.path.string() + ": there is too little memory for what "));
  }
  CHECK(failures > 0);
  CHECK(failures < 1000);
}

const tenon::tensor<std::uint8_t, tenon::rank<2>> ones({40, 40});

}  // namespace

TEST_CASE("damaged files of every kind are read or refused", "[files]") {
  constexpr int rounds = 1500;
  for (const auto& kind : fuzz::all_formats()) {
    tenon_test::random_source random(17);
    int accepted = 0, damaged = 0;
    for (int round = 0; round < rounds; ++round) {
      const auto made = kind.make(random);
      accepted += fuzz::is_accepted(kind, made) ? 1 : 0;
      damaged += fuzz::is_accepted(kind, fuzz::attack(kind, made, random)) ? 1 : 0;
    }
    INFO(kind.name << ": " << accepted << " of " << rounds << " accepted as made, " << damaged << " as damaged");
    CHECK(accepted > rounds / 50);
    CHECK(damaged < accepted);
  }
}

TEST_CASE("too little memory for what a file holds is named with the file", "[files]") {
  const auto npy = written([](const auto& path) { io::write_npy(path, ones); });
  check_little_memory(npy, [](const auto& path) { io::read_npy<std::uint8_t, 2>(path); });
  const auto read_npz = [](const auto& path) { io::npz_file(path).read<std::uint8_t, 2>("x"); };
  check_little_memory(tenon_test::stored_archive(npy).file(), read_npz);
#if TENON_ZLIB != 0
  check_little_memory(tenon_test::stored_archive(npy, tenon_test::deflated(npy)).file(), read_npz);
#endif
  check_little_memory(written([](const auto& path) { io::write_idx(path, ones); }),
                      [](const auto& path) { io::read_idx<2>(path); });
  check_little_memory(written([](const auto& path) {
                        io::safetensors_writer writer;
                        writer.add(std::string(300, 'x'), ones);
                        writer.save(path);
                      }),
                      [](const auto& path) { io::safetensors_file file(path); });
  std::string table = "a,b\n";
  for (int row = 0; row < 100; ++row) table += "1,2\n";
  check_little_memory(tenon_test::bytes_of(table), [](const auto& path) { io::csv_table(path).columns<double>(); });
  check_little_memory(tenon_test::bytes_of(table), [](const auto& path) { io::read_text(path); });
  const auto image = tenon_test::bytes_of("P5 40 40 255 " + std::string(1600, 'x'));
  check_little_memory(image, [](const auto& path) { io::read_pnm(path); });
}

TEST_CASE("a file beyond the memory of the process is refused", "[files]") {
  if (tenon::detail::address_sanitized || tenon::detail::thread_sanitized) return;  // they reserve the address space
  const tenon_test::scratch_file file("large");
  file.write({});
  std::filesystem::resize_file(file.path, std::uintmax_t{1} << 32);  // no disk is used
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{std::uint64_t{1} << 31, std::uint64_t{1} << 31};
    setrlimit(RLIMIT_AS, &limit);
    try {
      io::read_bytes("read", file.path);
    } catch (const tenon::file_error& refused) {
      _exit(std::string(refused.what()).ends_with("memory for what 4294967296 bytes hold") ? 0 : 2);
    } catch (...) {
      _exit(3);
    }
    _exit(1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

#if TENON_PNG != 0
TEST_CASE("too little memory for the pixels of a PNG file is named with the file", "[files]") {
  png_image pixels{};
  pixels.version = PNG_IMAGE_VERSION, pixels.width = 40, pixels.height = 40, pixels.format = PNG_FORMAT_RGB;
  const fuzz::bytes samples(PNG_IMAGE_SIZE(pixels));
  png_alloc_size_t size = 8192;
  fuzz::bytes content(size);
  REQUIRE(png_image_write_to_memory(&pixels, content.data(), &size, 0, samples.data(), 0, nullptr) != 0);
  content.resize(size);
  check_little_memory(content, [](const auto& path) { io::read_png(path); });
}
#endif
