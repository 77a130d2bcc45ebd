#include "app/durable_copy.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>  // NOLINT: renameat2 is not in cstdio
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

namespace muster::app {
namespace {

namespace fs = std::filesystem;

std::string error_text(int code) { return std::generic_category().message(code); }

// A descriptor that closes itself.
class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  const int fd_;
};

Result<void> sync(const std::string& path) {
  const File file(path, O_RDONLY);
  if (!file.ok() || ::fsync(file.fd()) != 0)
    return fail(Reason::InternalError, "cannot sync {}: {}", path, error_text(errno));
  return {};
}

Result<void> sync_tree(const std::string& path) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path, error), end; !error && entry != end;
       entry.increment(error))
    TRY(sync(entry->path()));
  if (error) return fail(Reason::InternalError, "cannot read {}: {}", path, error.message());
  return sync(path);
}

Result<void> copy_file(const std::string& from, const std::string& to) {
  const File source(from, O_RDONLY);
  if (!source.ok())
    return fail(Reason::InternalError, "cannot read {}: {}", from, error_text(errno));
  const File target(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
  bool good = target.ok() && ::fchmod(target.fd(), 0600) == 0;
  std::string buffer(1U << 20U, '\0');
  ssize_t got = 0;
  while (good && (got = ::read(source.fd(), buffer.data(), buffer.size())) > 0) {
    std::string_view rest(buffer.data(), static_cast<std::size_t>(got));
    while (good && !rest.empty()) {
      const ssize_t put = ::write(target.fd(), rest.data(), rest.size());
      good = put > 0;
      if (good) rest.remove_prefix(static_cast<std::size_t>(put));
    }
  }
  if (!good || got < 0)
    return fail(Reason::InternalError, "cannot copy {} to {}: {}", from, to, error_text(errno));
  return {};
}

Result<void> make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), 0700) != 0 || ::chmod(path.c_str(), 0700) != 0)
    return fail(Reason::InternalError, "cannot make the folder {}: {}", path, error_text(errno));
  return {};
}

// Without a slash at its end, and absolute, so that it has a parent.
fs::path clean(const std::string& path) {
  fs::path whole = fs::absolute(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

Result<void> copy_tree(const std::string& from, const std::string& to) {
  std::error_code error;
  if (!fs::is_directory(from, error)) return copy_file(from, to);
  TRY(make_folder(to));
  fs::directory_iterator entry(from, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename();
    const fs::file_status status = entry->symlink_status(error);
    if (fs::is_regular_file(status) || fs::is_directory(status))
      TRY(copy_tree(entry->path(), fmt::format("{}/{}", to, name)));
  }
  if (error) return fail(Reason::InternalError, "cannot read {}: {}", from, error.message());
  return {};
}

Result<StagedDirectory> StagedDirectory::begin(const std::string& path) {
  const std::string whole = clean(path);
  std::error_code error;
  if (fs::symlink_status(whole, error).type() != fs::file_type::not_found)
    return fail(Reason::AlreadyExists, "{} exists already; name a folder that does not", path);
  fs::create_directories(fs::path(whole).parent_path(), error);
  const std::string draft = whole + ".incomplete";
  if (::mkdir(draft.c_str(), 0700) != 0 && errno != EEXIST)
    return fail(Reason::InternalError, "cannot make the folder {}: {}", draft, error_text(errno));
  const int lock = ::open(draft.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (lock < 0) return fail(Reason::InternalError, "cannot open {}: {}", draft, error_text(errno));
  StagedDirectory staged(whole, draft, lock);
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    ::close(std::exchange(staged.lock_, -1));
    return fail(Reason::Conflict, "{} is being made by another process right now", path);
  }
  for (const auto& entry : fs::directory_iterator(draft, error)) {  // of one that was killed
    fs::remove_all(entry.path(), error);
    if (error) return fail(Reason::InternalError, "cannot clear {}: {}", draft, error.message());
  }
  return staged;
}

StagedDirectory::StagedDirectory(StagedDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      draft_(std::move(other.draft_)),
      lock_(std::exchange(other.lock_, -1)) {}

StagedDirectory::~StagedDirectory() {
  if (lock_ < 0) return;
  std::error_code ignored;
  fs::remove_all(draft_, ignored);
  ::close(lock_);
}

std::string StagedDirectory::path(std::string_view name) const {
  return draft_ + "/" + std::string(name);
}

Result<void> StagedDirectory::finish() {
  TRY(sync_tree(draft_));
  // Fails if the name was given to something else meanwhile.
  if (::renameat2(AT_FDCWD, draft_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0)
    return fail(Reason::InternalError, "cannot rename {} to {}: {}", draft_, path_,
                error_text(errno));
  ::close(std::exchange(lock_, -1));
  return sync(fs::path(path_).parent_path());
}

}  // namespace muster::app
