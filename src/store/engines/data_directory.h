#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace muster::store {

// A directory that holds one store, locked against every other process (and every other opener in
// this one) for as long as this lives.
//
//   FORMAT      a sentence and the layout's number; written last, so that it vouches for the rest
//   FORMAT.new  the same while the store is being made; such a directory may be rebuilt
//   db/         the database
//
// Whatever is not ours is refused untouched: a newer format, somebody else's files, a directory
// that is in use or that we may not write. The error is one sentence that names the directory and
// the remedy.
class DataDirectory {
 public:
  // Makes the directory if there is none.
  static Result<DataDirectory> open(const std::string& path);

  const std::string& path() const { return path_; }
  std::string database() const { return path_ + "/db"; }
  // Nothing was ever stored here: the caller makes the database and then calls finish().
  bool is_new() const { return is_new_; }
  Result<void> finish();

  DataDirectory(DataDirectory&& other) noexcept
      : path_(std::move(other.path_)),
        lock_(std::exchange(other.lock_, -1)),
        is_new_(other.is_new_) {}
  DataDirectory& operator=(DataDirectory&&) = delete;
  ~DataDirectory();

 private:
  explicit DataDirectory(std::string path) : path_(std::move(path)) {}
  Result<void> lock();
  Result<void> look();
  Result<void> begin();

  std::string path_;
  int lock_ = -1;  // a descriptor of the directory itself, so that the lock needs no file
  bool is_new_ = false;
};

}  // namespace muster::store
