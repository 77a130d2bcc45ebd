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

namespace muster::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMarker = "MUSTER";
constexpr std::string_view kMarkerText = "This directory holds the data of Muster. Format ";
constexpr int kFormat = 1;

// Checks what stands at `path` without touching it; true if it is ours already, false if it is
// free.
Result<bool> inspect(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return false;
  if (!fs::is_directory(path, error))
    return fail(Reason::Invalid, "{} is not a directory; name another with --data-dir", path);
  const bool empty = fs::is_empty(path, error);
  if (error)
    return fail(Reason::Forbidden, "cannot read the data directory {}: {}", path, error.message());
  if (empty) return false;
  const Result<std::string> marker = read_file(path + "/" + std::string(kMarker));
  if (!marker || !marker->starts_with(kMarkerText))
    return fail(
        Reason::Invalid,
        "{} holds something that is not Muster's; name an empty or new directory with --data-dir",
        path);
  int format = 0;
  std::from_chars(marker->data() + kMarkerText.size(), marker->data() + marker->size(), format);
  if (format != kFormat)
    return fail(Reason::Invalid,
                "{} was written by another version of Muster (format {}, this one knows {}); "
                "use that version, or another directory with --data-dir",
                path, format, kFormat);
  return true;
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf()))
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
  const bool ours = TRY(inspect(path));
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    return fail(Reason::Forbidden, "cannot make the data directory {}: {}", path, error.message());
  if (!ours) ::chmod(path.c_str(), 0700);

  const std::string marker = path + "/" + std::string(kMarker);
  const int lock = ::open(marker.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0)
    return fail(Reason::Forbidden, "cannot write to the data directory {}: {}", path,
                std::strerror(errno));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock);
    return fail(Reason::Conflict,
                "the data directory {} is in use by another muster; stop that one, or name another "
                "directory with --data-dir",
                path);
  }
  const std::string text = fmt::format("{}{}\n", kMarkerText, kFormat);
  if (!ours && ::pwrite(lock, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    ::close(lock);
    return fail(Reason::Forbidden, "cannot write to the data directory {}: {}", path,
                std::strerror(errno));
  }
  return std::unique_ptr<DataDir>(new DataDir(path, lock));
}

DataDir::~DataDir() { ::close(lock_); }

}  // namespace muster::app
