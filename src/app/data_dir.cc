#include "app/data_dir.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/entropy.h"
#include "store/engines/rocksdb.h"

namespace muster::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMarkerText = "This directory holds the data of Muster. Format ";
constexpr int kFormat = 1;

std::string marker_text() { return fmt::format("{}{}\n", kMarkerText, kFormat); }

enum class State { Free, Unfinished, Finished };

Result<void> check_marker(const std::string& path, const std::string& marker) {
  if (!marker.starts_with(kMarkerText))
    return fail(Reason::InternalError,
                "{}/MUSTER is damaged: restore the directory from a backup with `muster store "
                "restore`, or name another with --data-dir",
                path);
  int format = 0;
  std::from_chars(marker.data() + kMarkerText.size(), marker.data() + marker.size(), format);
  if (format != kFormat)
    return fail(Reason::Invalid,
                "{} was written by another version of Muster (format {}, this one knows {}); "
                "use that version, or another directory with --data-dir",
                path, format, kFormat);
  return {};
}

// Finds out what is at `path` without touching it.
Result<State> inspect(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return State::Free;
  if (!fs::is_directory(path, error))
    return fail(Reason::Invalid, "{} is not a directory; name another with --data-dir", path);
  const bool empty = fs::is_empty(path, error);
  if (error)
    return fail(Reason::Forbidden, "cannot read the data directory {}: {}", path, error.message());
  if (empty) return State::Free;
  if (const Result<std::string> marker = read_file(path + "/MUSTER")) {
    TRY(check_marker(path, *marker));
    // An empty folder is as bad as none: the store would be begun there once more.
    if (!store::is_rocksdb_store(path + "/store"))
      return fail(Reason::InternalError,
                  "the data directory {} has lost what was in its folder store, every object: "
                  "restore it from a backup with `muster store restore`; to begin with nothing "
                  "instead, name another directory with --data-dir",
                  path);
    return State::Finished;
  }
  // Our own unfinished attempt to make a data directory: nothing was ever acknowledged in it.
  if (fs::exists(path + "/MUSTER.new", error)) return State::Unfinished;
  return fail(
      Reason::Invalid,
      "{} holds something that is not Muster's; name an empty or new directory with --data-dir",
      path);
}

// A locked descriptor of the directory.
Result<int> lock(const std::string& path, int kind) {
  const int lock = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock < 0)
    return fail(Reason::Forbidden, "cannot open the data directory {}: {}", path,
                std::strerror(errno));
  if (::flock(lock, kind | LOCK_NB) == 0) return lock;
  ::close(lock);
  return fail(Reason::Conflict,
              "the data directory {} is in use by another muster; stop that one, or name another "
              "directory with --data-dir",
              path);
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  // Writing nothing to a stream is an error there, and an empty file none here.
  const bool empty = file && file.peek() == std::ifstream::traits_type::eof() && !file.bad();
  if (!empty && (!file || !(text << file.rdbuf())))
    return fail(Reason::NotFound, "cannot read {}: {}", path, std::strerror(errno));
  return text.str();
}

namespace {

// A new file beside `path` that nobody else can have opened: under a name that did not exist, never
// through a link, and 0600 whatever the umask is. -1 if there is none.
int open_draft(const std::string& path, std::string& draft) {
  SystemEntropy entropy;
  for (int tries = 0; tries < 8; ++tries) {
    draft = fmt::format("{}.{:016x}.new", path, entropy.next());
    const int file =
        ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0 && errno == EEXIST) continue;
    if (file >= 0 && ::fchmod(file, 0600) != 0) {
      ::close(file);
      return -1;
    }
    return file;
  }
  return -1;
}

}  // namespace

Result<void> write_private_file(const std::string& path, std::string_view text) {
  std::string draft;
  const int file = open_draft(path, draft);
  if (file < 0) return fail(Reason::Forbidden, "cannot write {}: {}", path, std::strerror(errno));
  bool written = true;
  while (written && !text.empty()) {
    const ssize_t count = ::write(file, text.data(), text.size());
    written = count > 0;
    if (written) text.remove_prefix(static_cast<std::size_t>(count));
  }
  written = written && ::fsync(file) == 0;
  const int why = errno;
  ::close(file);
  if (written && ::rename(draft.c_str(), path.c_str()) == 0) return {};
  ::unlink(draft.c_str());
  return fail(Reason::Forbidden, "cannot write {}: {}", path, std::strerror(why));
}

std::string default_data_dir() {
  if (const char* home = std::getenv("XDG_DATA_HOME"); home != nullptr && *home == '/')
    return std::string(home) + "/muster";
  const char* home = std::getenv("HOME");
  return std::string(home == nullptr ? "." : home) + "/.local/share/muster";
}

Result<std::unique_ptr<DataDir>> DataDir::open(const std::string& path) {
  TRY(inspect(path));
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    return fail(Reason::Forbidden, "cannot make the data directory {}: {}", path, error.message());
  const int locked = TRY(lock(path, LOCK_EX));
  std::unique_ptr<DataDir> data_dir(new DataDir(path, locked));
  // Looks once more, since another process may have worked on it before it was locked.
  if (TRY(inspect(path)) == State::Free) {
    ::chmod(path.c_str(), 0700);
    TRY(write_private_file(path + "/MUSTER.new", marker_text()));
  }
  return data_dir;
}

Result<std::unique_ptr<DataDir>> DataDir::open_for_reading(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error))
    return fail(Reason::NotFound, "there is no data directory {}; name one with --data-dir", path);
  const int locked = TRY(lock(path, LOCK_SH));
  std::unique_ptr<DataDir> data_dir(new DataDir(path, locked));
  if (TRY(inspect(path)) != State::Finished)
    return fail(Reason::NotFound, "{} holds no data of Muster: name another directory", path);
  return data_dir;
}

DataDir::~DataDir() { ::close(lock_); }

Result<void> DataDir::finish() {
  std::error_code error;
  if (!fs::exists(path("MUSTER.new"), error)) return {};
  if (::rename(path("MUSTER.new").c_str(), path("MUSTER").c_str()) != 0 || ::fsync(lock_) != 0)
    return fail(Reason::Forbidden, "cannot write to the data directory {}: {}", path_,
                std::strerror(errno));
  return {};
}

Result<void> mark_data_dir(const std::string& path) {
  return write_private_file(path + "/MUSTER", marker_text());
}

}  // namespace muster::app
