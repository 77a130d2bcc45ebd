#include "store/engines/high_water_mark.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/thread_name.h"
#include "store/engines/totals.h"

namespace muster::store {
namespace {

constexpr std::array<off_t, 2> kSlots = {0, 4096};
constexpr std::size_t kFileSize = 8192;
constexpr std::string_view kWord = "acknowledged ";
constexpr std::size_t kDigits = 20;
constexpr std::size_t kChecksumDigits = 16;
constexpr std::size_t kLine = kWord.size() + kDigits + 1 + kChecksumDigits + 1;
constexpr auto kSyncEvery = std::chrono::seconds{1};

std::string line_of(Revision revision) {
  const std::string text = fmt::format("{}{:020}", kWord, revision.value);
  return fmt::format("{} {:016x}\n", text, stable_hash(text));
}

// nullopt if this is no line that line_of() made.
std::optional<Revision> parse(std::string_view line) {
  if (line.size() < kLine || !line.starts_with(kWord)) return std::nullopt;
  Revision revision;
  const char* const digits = line.data() + kWord.size();
  const auto [end, error] = std::from_chars(digits, digits + kDigits, revision.value);
  if (error != std::errc() || line.substr(0, kLine) != line_of(revision)) return std::nullopt;
  return revision;
}

tl::unexpected<Error> cannot_write(const std::string& path, int code) {
  return fail(Reason::InternalError, "cannot write {}: {}", path,
              std::generic_category().message(code));
}

}  // namespace

Result<void> HighWaterMark::create(const std::string& path, Revision revision) {
  std::string text(kFileSize, '\0');
  for (const off_t slot : kSlots)
    text.replace(static_cast<std::size_t>(slot), kLine, line_of(revision));
  const std::string draft = path + ".new";
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return cannot_write(draft, errno);
  const bool written = ::write(file, text.data(), text.size()) == std::ssize(text) &&
                       ::fsync(file) == 0 && ::rename(draft.c_str(), path.c_str()) == 0;
  const int code = errno;
  ::close(file);
  if (!written) return cannot_write(draft, code);
  return {};
}

Result<Revision> HighWaterMark::read(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return fail(Reason::NotFound, "{} cannot be read: {}", path,
                std::generic_category().message(errno));
  std::optional<Revision> newest;
  for (const off_t slot : kSlots) {
    std::array<char, kLine> line{};
    const ssize_t got = ::pread(file, line.data(), line.size(), slot);
    if (got != std::ssize(line)) continue;
    if (const auto revision = parse({line.data(), line.size()}))
      newest = newest ? std::max(*newest, *revision) : *revision;
  }
  ::close(file);
  if (!newest) return fail(Reason::InternalError, "{} is unreadable", path);
  return *newest;
}

Result<std::unique_ptr<HighWaterMark>> HighWaterMark::open(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return cannot_write(path, errno);
  return std::unique_ptr<HighWaterMark>(new HighWaterMark(path, file));
}

HighWaterMark::HighWaterMark(std::string path, int file)
    : path_(std::move(path)), file_(file), syncer_([this] { sync_now_and_then(); }) {}

HighWaterMark::~HighWaterMark() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  syncer_.join();
  ::fdatasync(file_);
  ::close(file_);
}

Result<void> HighWaterMark::raise(Revision revision) {
  const std::string line = line_of(revision);
  const off_t slot = kSlots.at(static_cast<std::size_t>(next_slot_));
  if (::pwrite(file_, line.data(), line.size(), slot) != std::ssize(line))
    return cannot_write(path_, errno);
  next_slot_ = 1 - next_slot_;
  const std::lock_guard lock(mutex_);
  // Once is enough: the syncer then waits for its second to pass.
  if (!std::exchange(unsynced_, true)) changed_.notify_all();
  return {};
}

void HighWaterMark::sync_now_and_then() {
  name_this_thread("store-mark");
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return unsynced_ || stopped_; });
    if (changed_.wait_for(lock, kSyncEvery, [this] { return stopped_; })) return;
    unsynced_ = false;
    lock.unlock();
    if (::fdatasync(file_) != 0)
      log(LogLevel::Warning, "cannot sync {}: {}", path_, std::generic_category().message(errno));
    lock.lock();
  }
}

}  // namespace muster::store
