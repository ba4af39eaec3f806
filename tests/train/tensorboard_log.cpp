// tests/train/tensorboard_log.cpp: event files byte by byte, read by a decoder of the test's own.
// The known records were written by TensorBoard 2.21.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <map>
#include <tenon/train/tensorboard_log.hpp>

#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace {

using tenon_test::bytes;

bytes bytes_of_digits(const std::string& digits) {
  bytes result;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    result.push_back(static_cast<std::uint8_t>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  }
  return result;
}

/// A checksum bit by bit: the remainder of a division of polynomials.
std::uint32_t slow_masked_checksum(const bytes& message) {
  std::uint32_t remainder = 0xffffffffu;
  for (const auto byte : message) {
    for (int bit = 0; bit < 8; ++bit) {
      const bool differs = ((remainder ^ static_cast<std::uint32_t>(byte >> bit)) & 1) != 0;
      remainder = (remainder >> 1) ^ (differs ? 0x82F63B78u : 0u);
    }
  }
  remainder = ~remainder;
  return ((remainder >> 15) | (remainder << 17)) + 0xa282ead8u;
}

template <class T>
T number_at(const bytes& from, std::size_t at) {
  T result;
  REQUIRE(at + sizeof(T) <= from.size());
  std::memcpy(&result, from.data() + at, sizeof(T));
  return result;
}

/// The records of a file, whose checksums must be right.
std::vector<bytes> records_of(const bytes& file) {
  std::vector<bytes> records;
  std::size_t at = 0;
  while (at < file.size()) {
    const auto size = static_cast<std::size_t>(number_at<std::uint64_t>(file, at));
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at);
    REQUIRE(at + size + 16 <= file.size());
    const bytes length(begin, begin + 8), data(begin + 12, begin + 12 + static_cast<std::ptrdiff_t>(size));
    CHECK(number_at<std::uint32_t>(file, at + 8) == slow_masked_checksum(length));
    CHECK(number_at<std::uint32_t>(file, at + 12 + size) == slow_masked_checksum(data));
    records.push_back(data);
    at += size + 16;
  }
  return records;
}

/// The fields of a message by number, as their bytes; each stands once.
std::map<int, bytes> fields_of(const bytes& message) {
  std::map<int, bytes> fields;
  std::size_t at = 0;
  const auto varint = [&] {
    std::uint64_t value = 0;
    int shift = 0;
    do value |= static_cast<std::uint64_t>(message.at(at) & 0x7f) << shift, shift += 7;
    while ((message.at(at++) & 0x80) != 0);
    return value;
  };
  while (at < message.size()) {
    const auto key = varint();
    const int field = static_cast<int>(key >> 3), kind = static_cast<int>(key & 7);
    bytes value(8);
    if (kind == 0) {
      const auto number = varint();
      std::memcpy(value.data(), &number, 8);
    } else {
      const std::size_t size = kind == 1 ? 8 : kind == 5 ? 4 : static_cast<std::size_t>(varint());
      REQUIRE(at + size <= message.size());
      value.assign(message.begin() + static_cast<std::ptrdiff_t>(at),
                   message.begin() + static_cast<std::ptrdiff_t>(at + size));
      at += size;
    }
    CHECK(fields.emplace(field, value).second);
  }
  return fields;
}

/// A folder for temporary files that is gone at the end of its scope.
struct scratch_folder : tenon_test::scratch_file {
  using scratch_file::scratch_file;
  ~scratch_folder() { std::filesystem::remove_all(path); }
};

}  // namespace

TEST_CASE("records are those of TensorBoard's own writer", "[tensorboard_log]") {
  using tenon::train::detail::framed_record;
  using tenon::train::detail::protobuf_message;
  protobuf_message version, event, summary, value;
  version.add_double(1, 1234.5);
  version.add_text(3, "brain.Event:2");
  CHECK(framed_record(version) ==
        bytes_of_digits("1800000000000000a37f4b220900000000004a93401a0d627261696e2e4576656e743a3265b8d3fb"));
  value.add_text(1, "train/loss"), value.add_float(2, 0.25f);
  summary.add_message(1, value);
  event.add_double(1, 1234.75), event.add_varint(2, 300), event.add_message(5, summary);
  CHECK(framed_record(event) == bytes_of_digits("2100000000000000017becf60900000000004b934010ac022a130a110a0a747261696e"
                                                "2f6c6f7373150000803e34616210"));
  protobuf_message restart, session;
  session.add_varint(1, 1);
  restart.add_double(1, 1235), restart.add_varint(2, 7), restart.add_message(7, session);
  CHECK(framed_record(restart) == bytes_of_digits("0f000000000000006d532b090900000000004c934010073a0208013b297eae"));
}

TEST_CASE("numbers are read back by name and step", "[tensorboard_log]") {
  const scratch_folder folder("events");
  tenon::train::tensorboard_log log(folder.path / "run", 5);
  const std::int64_t late = (std::int64_t{1} << 40) + 7;
  log.add("train/loss", late, 2.5);
  log.add("", 0, -1);
  const auto records = records_of(tenon::io::read_bytes("test", log.path()));
  REQUIRE(records.size() == 4);
  auto first = fields_of(records[0]), restart = fields_of(records[1]);
  CHECK(first[3] == tenon_test::bytes_of("brain.Event:2"));
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  CHECK(std::abs(number_at<double>(first[1], 0) - now) < 60);
  CHECK(number_at<std::int64_t>(restart[2], 0) == 5);
  CHECK(number_at<std::int64_t>(fields_of(restart[7])[1], 0) == 1);
  auto event = fields_of(records[2]);
  CHECK(number_at<std::int64_t>(event[2], 0) == late);
  auto value = fields_of(fields_of(event[5])[1]);
  CHECK(value[1] == tenon_test::bytes_of("train/loss"));
  CHECK(number_at<float>(value[2], 0) == 2.5f);
  CHECK(fields_of(records[3]).count(2) == 0);  // a step of 0 is left out
}

TEST_CASE("every log has a file of its own, and no folder is no log", "[tensorboard_log]") {
  const scratch_folder folder("more_events");
  const tenon::train::tensorboard_log first(folder.path), second(folder.path);
  CHECK(first.path() != second.path());
  CHECK(first.path().filename().string().starts_with("events.out.tfevents."));
  CHECK(records_of(tenon::io::read_bytes("test", first.path())).size() == 1);
  tenon::train::tensorboard_log none({});
  CHECK_NOTHROW(none.add("loss", 0, 1));
  CHECK(none.path().empty());
  CHECK_THROWS_AS(tenon::train::tensorboard_log("/proc/no/folder"), tenon::file_error);
}
