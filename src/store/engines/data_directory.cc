#include "store/engines/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/check.h"

namespace muster::store {
namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 3;
constexpr std::string_view kSentence =
    "This directory holds a Muster store: objects by revision, in RocksDB. Leave it to Muster.\n";
constexpr std::string_view kNumber = "format ";

std::string error_text(int code) { return std::generic_category().message(code); }

tl::unexpected<Error> cannot_open(const std::string& path, int code) {
  return fail(
      Reason::Forbidden,
      "the data directory {} cannot be used ({}): make it a directory that user {} may read and "
      "write, or give another one",
      path, error_text(code), ::geteuid());
}

std::string format_text() { return fmt::format("{}{}{}\n", kSentence, kNumber, kFormat); }

std::string clean(const std::string& path) {
  // A path may end in a slash; messages and database() then read as if it did not.
  std::string clean = fs::path(path).lexically_normal().string();
  while (clean.size() > 1 && clean.back() == '/') clean.pop_back();
  return clean;
}

bool allowed(const std::string& path, int modes) {
  return ::faccessat(AT_FDCWD, path.c_str(), modes, AT_EACCESS) == 0;
}

// The number in a FORMAT file; nullopt if this is none of ours.
std::optional<int> read_format(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  const std::string all = text.str();
  // Only the number decides: a later version may word its sentence differently.
  const std::size_t at = all.find('\n');
  if (!all.starts_with("This directory holds a Muster store") || at == std::string::npos)
    return std::nullopt;
  std::string_view rest = std::string_view(all).substr(at + 1);
  if (!rest.starts_with(kNumber)) return std::nullopt;
  rest.remove_prefix(kNumber.size());
  int number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || number < 1 || std::string_view(end, 1) != "\n") return std::nullopt;
  return number;
}

// Writes a file so that it is on disk when this returns. The errno, or 0.
int write_durably(const std::string& file, std::string_view text) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return errno;
  int code = 0;
  const ssize_t written = ::write(fd, text.data(), text.size());
  if (written >= 0 && static_cast<std::size_t>(written) < text.size())
    code = ENOSPC;
  else if (written < 0 || ::fsync(fd) != 0)
    code = errno;
  ::close(fd);
  return code;
}

}  // namespace

Result<DataDirectory> DataDirectory::open(const std::string& path) {
  std::error_code error;
  DataDirectory directory(clean(path));
  if (!fs::exists(directory.path_, error)) {
    const fs::path parent = fs::path(directory.path_).parent_path();
    if (!parent.empty()) fs::create_directories(parent, error);
    if (::mkdir(directory.path_.c_str(), 0700) != 0 && errno != EEXIST)
      return cannot_open(directory.path_, errno);
  }
  TRY(directory.lock(Use::Write));
  TRY(directory.look(Use::Write));
  if (directory.is_new_) TRY(directory.begin());
  return directory;
}

Result<DataDirectory> DataDirectory::open_for_reading(const std::string& path) {
  DataDirectory directory(clean(path));
  TRY(directory.lock(Use::Read));
  TRY(directory.look(Use::Read));
  if (directory.is_new_)
    return fail(Reason::NotFound,
                "the directory {} holds no Muster store that was ever finished: give another one",
                directory.path_);
  return directory;
}

bool DataDirectory::is_finished(const std::string& path) {
  std::error_code error;
  return fs::exists(path + "/FORMAT", error);
}

DataDirectory::~DataDirectory() {
  if (lock_ >= 0) ::close(lock_);
}

Result<void> DataDirectory::lock(Use use) {
  lock_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (lock_ < 0) return cannot_open(path_, errno);
  const int kind = use == Use::Write ? LOCK_EX : LOCK_SH;
  if (::flock(lock_, kind | LOCK_NB) == 0) return {};
  if (errno == EWOULDBLOCK)
    return fail(
        Reason::ServiceUnavailable,
        "the data directory {} is in use by another process: stop that one, or give another "
        "directory",
        path_);
  return cannot_open(path_, errno);
}

// Decides whose directory this is; changes nothing.
Result<void> DataDirectory::look(Use use) {
  if (!allowed(path_, R_OK | X_OK | (use == Use::Write ? W_OK : 0)))
    return cannot_open(path_, errno);
  const std::string file = path_ + "/FORMAT";
  std::error_code error;
  if (fs::exists(file, error)) {
    if (!allowed(file, R_OK)) return cannot_open(file, errno);
    const std::optional<int> format = read_format(file);
    if (!format)
      return fail(
          Reason::InternalError,
          "the data directory {} is damaged (its FORMAT file is not one that Muster writes): "
          "restore it from a backup, or give another directory",
          path_);
    if (*format > kFormat)
      return fail(
          Reason::Invalid,
          "the data directory {} has format {}, but this version of Muster knows formats up to "
          "{}: run the newer version that wrote it, or give another directory",
          path_, *format, kFormat);
    format_ = *format;
    return {};
  }
  is_new_ = true;
  // Our own unfinished attempt to make a store: nothing was ever acknowledged in it.
  if (fs::exists(path_ + "/FORMAT.new", error)) return {};
  fs::directory_iterator entries(path_, error);
  if (error) return cannot_open(path_, error.value());
  for (const fs::directory_entry& entry : entries)
    if (entry.path().filename() != "lost+found")  // an empty file system is an empty directory
      return fail(
          Reason::Invalid,
          "the directory {} is not empty and holds no Muster store (it has {}): give an empty or a "
          "new directory",
          path_, entry.path().filename().string());
  return {};
}

// Clears away an unfinished attempt and marks this one.
Result<void> DataDirectory::begin() {
  if (const int code = write_durably(path_ + "/FORMAT.new", format_text()); code != 0)
    return cannot_open(path_, code);
  std::error_code error;
  fs::remove_all(database(), error);
  if (!error) fs::create_directory(database(), error);
  if (error) return cannot_open(path_, error.value());
  return {};
}

Result<void> DataDirectory::finish() {
  CHECK_THAT(is_new_, "{} is finished already", path_);
  if (::rename((path_ + "/FORMAT.new").c_str(), (path_ + "/FORMAT").c_str()) != 0 ||
      ::fsync(lock_) != 0)
    return cannot_open(path_, errno);
  // The directory's own name must survive a power cut too.
  const fs::path parent = fs::path(path_).parent_path();
  const int above =
      ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (above >= 0) {
    ::fsync(above);
    ::close(above);
  }
  is_new_ = false;
  format_ = kFormat;
  return {};
}

bool DataDirectory::is_newest() const { return format_ == kFormat; }

bool DataDirectory::is_being_upgraded() const {
  std::error_code error;
  return fs::exists(path_ + "/FORMAT.next", error);
}

Result<void> DataDirectory::begin_upgrade() {
  if (const int code = write_durably(path_ + "/FORMAT.next", format_text()); code != 0)
    return cannot_open(path_, code);
  if (::fsync(lock_) != 0) return cannot_open(path_, errno);
  return {};
}

Result<void> DataDirectory::upgrade() {
  TRY(begin_upgrade());
  if (::rename((path_ + "/FORMAT.next").c_str(), (path_ + "/FORMAT").c_str()) != 0 ||
      ::fsync(lock_) != 0)
    return cannot_open(path_, errno);
  format_ = kFormat;
  return {};
}

Result<void> DataDirectory::seal(const std::string& path) {
  if (const int code = write_durably(path + "/FORMAT", format_text()); code != 0)
    return cannot_open(path, code);
  return {};
}

}  // namespace muster::store
