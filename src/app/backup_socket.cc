#include "app/backup_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/thread_name.h"

namespace muster::app {
namespace {

namespace fs = std::filesystem;

// The address of the socket. A data directory's path may be longer than an address can hold, so the
// address names a descriptor of the directory instead, which must stay open until the address was
// used.
class Address {
 public:
  explicit Address(const std::string& data_dir)
      : directory_(::open(data_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    address_.sun_family = AF_UNIX;
    const std::string path = fmt::format("/proc/self/fd/{}/{}", directory_, kBackupSocket);
    path.copy(std::begin(address_.sun_path), sizeof(address_.sun_path) - 1);
  }
  ~Address() {
    if (directory_ >= 0) ::close(directory_);
  }
  Address(const Address&) = delete;
  Address& operator=(const Address&) = delete;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  static constexpr socklen_t size() { return sizeof(sockaddr_un); }

 private:
  const int directory_;
  sockaddr_un address_{};
};

// The folder is private to its user already; this holds where it is not.
bool is_owner(int connection) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return ::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
         (peer.uid == ::geteuid() || peer.uid == 0);
}

}  // namespace

Result<std::unique_ptr<BackupSocket>> BackupSocket::start(const std::string& data_dir, Copy copy) {
  const std::string path = fmt::format("{}/{}", data_dir, kBackupSocket);
  std::error_code error;
  fs::remove(path, error);  // of a Muster that was killed, as may be a copy
  fs::remove_all(fmt::format("{}/{}", data_dir, kBackupCopy), error);
  const Address address(data_dir);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || ::bind(listener, address.get(), Address::size()) != 0 ||
      ::chmod(path.c_str(), 0600) != 0 || ::listen(listener, 4) != 0) {
    const int code = errno;
    if (listener >= 0) ::close(listener);
    return fail(Reason::Forbidden, "cannot listen on {}: {}", path, std::strerror(code));
  }
  const int stop = ::eventfd(0, EFD_CLOEXEC);
  return std::unique_ptr<BackupSocket>(new BackupSocket(data_dir, std::move(copy), listener, stop));
}

BackupSocket::BackupSocket(std::string data_dir, Copy copy, int listener, int stop)
    : data_dir_(std::move(data_dir)),
      copy_(std::move(copy)),
      listener_(listener),
      stop_(stop),
      thread_([this] { run(); }) {}

BackupSocket::~BackupSocket() {
  ::eventfd_write(stop_, 1);
  thread_.join();
  ::close(listener_);
  ::close(stop_);
  ::unlink(fmt::format("{}/{}", data_dir_, kBackupSocket).c_str());
}

// False once the thread must end.
bool BackupSocket::wait_for(int descriptor) const {
  std::array<pollfd, 2> watched = {pollfd{.fd = descriptor, .events = POLLIN, .revents = 0},
                                   pollfd{.fd = stop_, .events = POLLIN, .revents = 0}};
  while (::poll(watched.data(), watched.size(), -1) < 0 && errno == EINTR) {
  }
  return watched[1].revents == 0;
}

void BackupSocket::run() {
  name_this_thread("backup");
  while (wait_for(listener_)) {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) continue;
    if (is_owner(connection)) serve(connection);
    ::close(connection);
  }
}

void BackupSocket::serve(int connection) {
  const std::string folder = fmt::format("{}/{}", data_dir_, kBackupCopy);
  const Result<void> copied = copy_(folder);
  if (!copied) log(LogLevel::Warning, "no backup: {}", copied.error().message);
  const std::string line = copied ? fmt::format("copy {}\n", fs::absolute(folder).string())
                                  : fmt::format("error {}\n", copied.error().message);
  const ssize_t sent = ::send(connection, line.data(), line.size(), MSG_NOSIGNAL);
  // Nothing more is said; a hang-up is an end of file.
  if (copied && sent == std::ssize(line)) wait_for(connection);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

Result<CopyOfRunningStore> CopyOfRunningStore::request(const std::string& data_dir) {
  const Address address(data_dir);
  const int connection = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connection < 0 || ::connect(connection, address.get(), Address::size()) != 0) {
    const int code = errno;
    if (connection >= 0) ::close(connection);
    return fail(Reason::NotFound, "no running muster can be reached by {}/{}: {}", data_dir,
                kBackupSocket, std::strerror(code));
  }
  CopyOfRunningStore copy(connection, "");
  std::string line;
  char byte = 0;
  while (::recv(connection, &byte, 1, 0) == 1 && byte != '\n') line += byte;
  if (line.starts_with("error ")) return fail(Reason::InternalError, "{}", line.substr(6));
  if (byte != '\n' || !line.starts_with("copy "))
    return fail(Reason::InternalError, "the muster that runs on {} stopped before it answered",
                data_dir);
  copy.folder_ = line.substr(5);
  return copy;
}

CopyOfRunningStore::CopyOfRunningStore(CopyOfRunningStore&& other) noexcept
    : connection_(std::exchange(other.connection_, -1)), folder_(std::move(other.folder_)) {}

CopyOfRunningStore::~CopyOfRunningStore() {
  if (connection_ >= 0) ::close(connection_);
}

}  // namespace muster::app
