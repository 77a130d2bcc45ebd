#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster::app {

// A directory that belongs to one running Muster: marked, locked, private to its user.
//
//   MUSTER      what this directory is, and the format of what is in it; locked while in use
//   pki/        the certificate authority
//   store/      the objects
//   kubeconfig  for the administrator
class DataDir {
 public:
  // Makes the directory if it is missing. Refuses, untouched, one that is not ours, is of a newer
  // format, cannot be written or is in use.
  static Result<std::unique_ptr<DataDir>> open(const std::string& path);
  ~DataDir();
  DataDir(const DataDir&) = delete;
  DataDir& operator=(const DataDir&) = delete;

  std::string path(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  DataDir(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  const std::string path_;
  const int lock_;
};

// $XDG_DATA_HOME/muster, or ~/.local/share/muster.
std::string default_data_dir();

// The file's text, or NotFound.
Result<std::string> read_file(const std::string& path);
// Replaces a file in one step: a reader sees the old text or the new, never half. Only the owner
// may read it.
Result<void> write_private_file(const std::string& path, std::string_view text);

}  // namespace muster::app
