// tests/train/csv_log.cpp: rows of numbers, whole after any end, and dropped where they are done again.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <tenon/io/csv.hpp>
#include <tenon/io/text.hpp>
#include <tenon/train/csv_log.hpp>

#include "support/file_size_limit.hpp"
#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

using tenon::io::read_text;
using tenon::train::csv_log;
using tenon_test::scratch_file;
using tenon_test::text_of;

TEST_CASE("rows are in the file as soon as they are added, and numbers are exact", "[csv_log]") {
  const scratch_file file("log.csv");
  csv_log log(file.path, {"loss", "lr"});
  CHECK(read_text(file.path) == "step,loss,lr\n");
  log.add(0, {0.1, 3});
  log.add(1, {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()});
  log.add(2, {static_cast<double>(0.1f), 1e-300});
  CHECK(read_text(file.path) == "step,loss,lr\n0,0.1,3\n1,nan,-inf\n2,0.10000000149011612,1e-300\n");
  log.flush();
  CHECK(text_of<tenon::error>([&] { log.add(3, {1}); }) ==
        "csv_log: a row of 1 numbers, expected 2 as there are columns");
}

TEST_CASE("names of columns are one field each, whatever they hold", "[csv_log]") {
  const scratch_file file("names.csv");
  csv_log(file.path, {"loss, train", "the \"best\"", "two\nlines", "plain"}).add(0, {1, 2, 3, 4});
  const tenon::io::csv_table table(file.path);
  CHECK(table.columns<float>({"loss, train", "the \"best\"", "two\nlines", "plain"}).size() == 4);
  csv_log(file.path, {"loss, train", "the \"best\"", "two\nlines", "plain"}, 1).add(1, {5, 6, 7, 8});
  CHECK(tenon::io::csv_table(file.path).rows() == 2);
}

TEST_CASE("a log that goes on drops what is done again, and half a row", "[csv_log]") {
  const scratch_file file("resumed.csv");
  file.write(tenon_test::bytes_of("step,loss\n0,1\n1,2\n2,3\n3,"));
  {
    csv_log log(file.path, {"loss"}, 2);
    CHECK(read_text(file.path) == "step,loss\n0,1\n1,2\n");
    log.add(2, {5});
  }
  CHECK(read_text(file.path) == "step,loss\n0,1\n1,2\n2,5\n");
  csv_log again(file.path, {"loss"}, 0);
  CHECK(read_text(file.path) == "step,loss\n");
  csv_log begun(file.path, {"loss"});
  const scratch_file missing("missing.csv");
  csv_log log(missing.path, {"loss"}, 7);
  CHECK(read_text(missing.path) == "step,loss\n");
}

TEST_CASE("a row for which the disk has no room is not there in part", "[csv_log]") {
  const scratch_file file("full.csv");
  csv_log log(file.path, {"loss"});
  log.add(0, {0.5});
  {
    const tenon_test::file_size_limit at(20);  // a part of the row has room
    CHECK(text_of<tenon::file_error>([&] { log.add(1, {0.1234567890123}); }) ==
          "csv_log: " + file.path.string() + ": it cannot be written: File too large");
  }
  CHECK(read_text(file.path) == "step,loss\n0,0.5\n");
  log.add(1, {0.25});
  CHECK(read_text(file.path) == "step,loss\n0,0.5\n1,0.25\n");
}

TEST_CASE("files that are no such log are refused as they are, and no path is no log", "[csv_log]") {
  const scratch_file file("other.csv");
  file.write(tenon_test::bytes_of("step,accuracy\n0,1\n"));
  CHECK(text_of<tenon::file_error>([&] { csv_log(file.path, {"loss"}, 1); }) ==
        "csv_log: " + file.path.string() + ": its first line is another one than step,loss");
  CHECK(read_text(file.path) == "step,accuracy\n0,1\n");
  file.write(tenon_test::bytes_of("step,loss\nnone,1\n"));
  CHECK(text_of<tenon::file_error>([&] { csv_log(file.path, {"loss"}, 1); }) ==
        "csv_log: " + file.path.string() + ": a row does not begin with the number of a step");
  CHECK(text_of<tenon::file_error>([&] { csv_log("/no/folder/log.csv", {"loss"}); }) ==
        "csv_log: /no/folder/log.csv: it cannot be written: No such file or directory");
  csv_log none({}, {"loss"});
  CHECK_NOTHROW(none.add(0, {1}));
  CHECK_THROWS_AS(none.add(0, {1, 2}), tenon::error);
}
