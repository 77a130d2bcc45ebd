#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace muster::store {

// A directory that holds one store, locked against other processes (and other openers in this one)
// for as long as this lives.
//
//   FORMAT      a sentence and the layout's number; written last, so that it vouches for the rest
//   FORMAT.new  the same while the store is being made; such a directory may be rebuilt
//   FORMAT.next the same while the store is being upgraded
//   MARK        the newest acknowledged revision (high_water_mark.h)
//   db/         the database
//
// What is not ours is refused untouched: a newer format, somebody else's files, a directory that is
// in use or that we may not write. The error is one sentence that names the directory and the
// remedy.
class DataDirectory {
 public:
  // Makes the directory if there is none.
  static Result<DataDirectory> open(const std::string& path);
  // For reading: writes nothing, so read-only media will do, and several may read at once. The
  // store must be there, and finished.
  static Result<DataDirectory> open_for_reading(const std::string& path);

  // Whether a store was ever finished at `path`.
  static bool is_finished(const std::string& path);

  const std::string& path() const { return path_; }
  std::string database() const { return path_ + "/db"; }
  std::string mark() const { return path_ + "/MARK"; }
  // Nothing was ever stored here: the caller makes the database and the mark, then calls finish().
  bool is_new() const { return is_new_; }
  Result<void> finish();
  // Format 1 had neither mark nor totals, format 2 no deposits. To write what is missing, call
  // begin_upgrade() before it, and upgrade() after.
  bool has_mark() const { return format_ > 1; }
  bool is_newest() const;
  bool is_being_upgraded() const;
  Result<void> begin_upgrade();
  Result<void> upgrade();
  // Writes the FORMAT file of a copy that is made in `path`.
  static Result<void> seal(const std::string& path);

  DataDirectory(DataDirectory&& other) noexcept
      : path_(std::move(other.path_)),
        lock_(std::exchange(other.lock_, -1)),
        is_new_(other.is_new_),
        format_(other.format_) {}
  DataDirectory& operator=(DataDirectory&&) = delete;
  ~DataDirectory();

 private:
  explicit DataDirectory(std::string path) : path_(std::move(path)) {}
  enum class Use { Read, Write };
  Result<void> lock(Use use);
  Result<void> look(Use use);
  Result<void> begin();

  std::string path_;
  int lock_ = -1;  // a descriptor of the directory itself, so that the lock needs no file
  bool is_new_ = false;
  int format_ = 0;
};

}  // namespace muster::store
