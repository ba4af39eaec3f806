// tenon/train/tensorboard_log.hpp: what a training measured, as TensorBoard reads it.
// A file of records; each is an event of numbers by name, in the wire format of protocol buffers, between checksums.
// Floor 8: may include base, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <tenon/io/checksum.hpp>
#include <tenon/io/write_bytes.hpp>

namespace tenon::train {

namespace detail {

/// A message of protocol buffers.
/// source    protobuf.dev, Encoding
class protobuf_message {
 public:
  void add_varint(int field, std::uint64_t value) { add_key(field, 0), append_varint(value); }
  void add_double(int field, double value) { add_key(field, 1), append_fixed(std::bit_cast<std::uint64_t>(value), 8); }
  void add_float(int field, float value) { add_key(field, 5), append_fixed(std::bit_cast<std::uint32_t>(value), 4); }
  void add_text(int field, std::string_view value) { add_bytes(field, {value.begin(), value.end()}); }
  void add_message(int field, const protobuf_message& value) { add_bytes(field, value.bytes_); }
  void append_fixed(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * i) & 0xff));
  }
  void append(const std::vector<std::uint8_t>& bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  void add_key(int field, std::uint64_t kind) { append_varint(static_cast<std::uint64_t>(field) << 3 | kind); }
  void add_bytes(int field, const std::vector<std::uint8_t>& value) {
    add_key(field, 2), append_varint(value.size()), append(value);
  }
  void append_varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::uint8_t>((value & 0x7f) | 0x80));
    bytes_.push_back(static_cast<std::uint8_t>(value));
  }
  std::vector<std::uint8_t> bytes_;
};

/// A record: its length, the length's checksum, its bytes and their checksum.
inline std::vector<std::uint8_t> framed_record(const protobuf_message& message) {
  protobuf_message record;
  record.append_fixed(message.bytes().size(), 8);
  record.append_fixed(io::masked_crc32c(record.bytes()), 4);
  record.append(message.bytes());
  record.append_fixed(io::masked_crc32c(message.bytes()), 4);
  return record.bytes();
}

/// Fields of an Event and of what lies in it, by number.
/// source    tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto
enum event_field { event_wall_time = 1, event_step = 2, event_version = 3, event_summary = 5, event_session = 7 };
enum summary_field { summary_value = 1, value_tag = 1, value_simple = 2, session_status = 1, session_start = 1 };

}  // namespace detail

/// Writes numbers by name, such as train/loss, into a new event file of a folder, which is made where it is missing.
/// `tensorboard --logdir FOLDER` shows them while they are written. A training that goes on at `next_step` makes
/// TensorBoard forget what an earlier file of the folder has of that step and later. Without a folder it does nothing.
/// throws    file_error
/// example   train::tensorboard_log log("runs/first"); log.add("train/loss", step, loss);
class tensorboard_log {
 public:
  explicit tensorboard_log(const std::filesystem::path& folder, std::int64_t next_step = 0) {
    if (folder.empty()) return;
    std::error_code status;
    std::filesystem::create_directories(folder, status);
    open(folder);
    try {
      begin(next_step);
    } catch (...) {
      std::filesystem::remove(path_, status);
      throw;
    }
  }

  void add(std::string_view tag, std::int64_t step, double number) {
    if (!file_) return;
    detail::protobuf_message value, summary, event = make_event(step);
    value.add_text(detail::value_tag, tag);
    value.add_float(detail::value_simple, static_cast<float>(number));
    summary.add_message(detail::summary_value, value);
    event.add_message(detail::event_summary, summary);
    write(event);
  }
  /// Of the file; empty where there is none.
  const std::filesystem::path& path() const { return path_; }

 private:
  static double wall_time() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  static detail::protobuf_message make_event(std::int64_t step) {
    detail::protobuf_message event;
    event.add_double(detail::event_wall_time, wall_time());
    if (step != 0) event.add_varint(detail::event_step, static_cast<std::uint64_t>(step));
    return event;
  }
  /// A name of this second, host and process, and of no file that is there.
  void open(const std::filesystem::path& folder) {
    char host[256] = "host";
    ::gethostname(host, sizeof(host) - 1);
    const auto stem = compose_text("events.out.tfevents.", static_cast<std::int64_t>(wall_time()), ".",
                                   static_cast<const char*>(host), ".", ::getpid(), ".");
    for (int number = 0; !file_ || (!file_->is_open() && errno == EEXIST); ++number) {
      path_ = folder / (stem + std::to_string(number));
      file_.emplace(path_, O_WRONLY | O_APPEND | O_CREAT | O_EXCL);
    }
    if (!file_->is_open()) io::refuse_with_reason("tensorboard_log", path_);
  }
  void begin(std::int64_t next_step) {
    detail::protobuf_message version = make_event(0);
    version.add_text(detail::event_version, "brain.Event:2");
    write(version);
    if (next_step == 0) return;
    detail::protobuf_message restart = make_event(next_step), session;
    session.add_varint(detail::session_status, detail::session_start);
    restart.add_message(detail::event_session, session);
    write(restart);
  }
  void write(const detail::protobuf_message& event) {
    if (!file_->append(detail::framed_record(event))) io::refuse_with_reason("tensorboard_log", path_);
  }

  std::filesystem::path path_;
  std::optional<io::open_file> file_;
};

}  // namespace tenon::train
