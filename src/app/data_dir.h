#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::app {

// A directory that belongs to one running Muster: marked, locked, private to its user.
//
//   MUSTER      what this directory is, and its format; exists once store/ does
//   MUSTER.new  the same while the store is being made
//   pki/        the certificate authority
//   store/      the objects
//   kubeconfig  for the administrator
//   backup.sock how `muster store backup` reaches a running Muster (backup_socket.h)
class DataDir {
 public:
  // Makes the directory if it is missing. Refuses, untouched, one that is not ours, has lost its
  // store, is of a newer format, cannot be written or is in use.
  static Result<std::unique_ptr<DataDir>> open(const std::string& path);
  // For reading: writes nothing, so read-only media will do. The directory must exist and be
  // finished; Conflict if a Muster runs on it.
  static Result<std::unique_ptr<DataDir>> open_for_reading(const std::string& path);
  ~DataDir();
  DataDir(const DataDir&) = delete;
  DataDir& operator=(const DataDir&) = delete;

  std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }
  // The store has been made: from now on, a directory without it is damaged. Does nothing if that
  // is known already.
  Result<void> finish();

 private:
  DataDir(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  const std::string path_;
  const int lock_;  // a descriptor of the directory itself, so that the lock needs no file
};

// Marks a copy of a data directory, as finish() does: the last thing that is written to it.
Result<void> mark_data_dir(const std::string& path);

// $XDG_DATA_HOME/muster, or ~/.local/share/muster.
std::string default_data_dir();

// The file's text, or NotFound.
Result<std::string> read_file(const std::string& path);
// Replaces a file in one step: a reader sees the old text or the new, never half. Only the owner
// may read it.
Result<void> write_private_file(const std::string& path, std::string_view text);

}  // namespace muster::app
