#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/result.h"

namespace muster::app {

// How `muster store backup` gets a copy of a store that is in use: over the socket `backup.sock` in
// the data directory, which only its owner can reach. A client that connects gets a line,
//
//   copy <folder>     a copy of the store as of the moment of connecting
//   error <sentence>
//
// and the folder is the client's until it hangs up. One client is served at a time.
class BackupSocket {
 public:
  // Makes a copy of the store in a folder that does not exist yet; called on the socket's thread.
  using Copy = std::function<Result<void>(const std::string& folder)>;
  static Result<std::unique_ptr<BackupSocket>> start(const std::string& data_dir, Copy copy);
  // Ends the thread; a backup that is under way is cut short.
  ~BackupSocket();
  BackupSocket(const BackupSocket&) = delete;
  BackupSocket& operator=(const BackupSocket&) = delete;

 private:
  BackupSocket(std::string data_dir, Copy copy, int listener, int stop);
  void run();
  void serve(int connection);
  bool wait_for(int descriptor) const;

  const std::string data_dir_;
  const Copy copy_;
  const int listener_;
  const int stop_;  // an eventfd that becomes readable when the thread must end
  std::thread thread_;
};

// The client's end: a copy of the store of the Muster that runs on `data_dir`; it exists as long as
// this object.
class CopyOfRunningStore {
 public:
  // NotFound if none listens there.
  static Result<CopyOfRunningStore> request(const std::string& data_dir);
  ~CopyOfRunningStore();
  CopyOfRunningStore(CopyOfRunningStore&& other) noexcept;
  CopyOfRunningStore& operator=(CopyOfRunningStore&&) = delete;

  const std::string& folder() const { return folder_; }

 private:
  CopyOfRunningStore(int connection, std::string folder)
      : connection_(connection), folder_(std::move(folder)) {}

  int connection_ = -1;
  std::string folder_;
};

// Folders and sockets of a data directory that only mean something while a Muster runs on it.
inline constexpr std::string_view kBackupSocket = "backup.sock";
inline constexpr std::string_view kBackupCopy = "backup-copy";

}  // namespace muster::app
