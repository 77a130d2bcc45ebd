#include "server/http/watch_stream.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "server/core/request/status.h"

namespace muster::server {
namespace {

constexpr std::chrono::seconds kBookmarkEvery{60};
// One that is due while there is more to send is looked at again after this.
constexpr std::chrono::milliseconds kBookmarkAgain{100};
// A client that is cut off by the timeout resumes from here.
constexpr std::chrono::seconds kLastBookmarkBefore{2};
constexpr std::size_t kMessagesPerRead = 16;
// Conditions that are judged before others get their turn: some hundred microseconds.
constexpr std::size_t kTermsPerPull = 2'000;
// Or this long, where conditions are about fields of large objects or events are expensive to
// write.
constexpr std::chrono::milliseconds kPullLasts{1};

std::string_view type_name(store::Change::Type type) {
  switch (type) {
    case store::Change::Type::Added: return "ADDED";
    case store::Change::Type::Modified: return "MODIFIED";
    case store::Change::Type::Deleted: return "DELETED";
  }
  return "";
}

void append_error(const Error& error, std::string& out) {
  out += R"({"type":"ERROR","object":)";
  out += status_json(error);
  out += "}\n";
}

SteadyTime bookmark_after(SteadyTime now, SteadyTime end) {
  const SteadyTime last = end - kLastBookmarkBefore;
  return now < last ? std::min(now + kBookmarkEvery, last) : SteadyTime::max();
}

}  // namespace

WatchStream::WatchStream(Server::OpenWatch watch, const Options& options, Holds holds,
                         std::unique_ptr<Permission> permission, const Clock& clock)
    : watcher_(std::move(watch.watcher)),
      subscription_(std::move(watch.subscription)),
      any_change_(std::move(watch.any_change)),
      holds_(std::move(holds)),
      permission_(std::move(permission)),
      rendering_(options.rendering),
      bookmarks_(options.bookmarks),
      clock_(clock),
      form_(form_number()),
      end_(options.started + options.timeout),
      access_check_(options.access_check),
      next_check_(options.started + options.access_check),
      next_bookmark_(bookmarks_ ? bookmark_after(options.started, end_) : SteadyTime::max()),
      reach_by_(any_change_ ? options.started + options.unreached_max : SteadyTime::max()) {
  count_bytes();
}

std::optional<Error> WatchStream::refusal(SteadyTime now) {
  if (now >= next_check_) {
    next_check_ = now + access_check_;
    if (const auto allowed = permission_->check(clock_.now()); !allowed) return allowed.error();
  }
  if (!any_change_) return std::nullopt;
  std::optional<Error> unreached = watcher_->unreached();
  if (unreached && now >= reach_by_) return unreached;
  if (!unreached) {
    any_change_.reset();
    reach_by_ = SteadyTime::max();
  }
  return std::nullopt;
}

WatchStream::State WatchStream::pull(SteadyTime now, std::size_t bytes_max, std::string& out) {
  if (const std::optional<Error> error = refusal(now)) {
    append_error(*error, out);
    return State::Ended;
  }
  more_ = true;  // that is why we are asked
  const SteadyTime began = SteadyClock::now();
  std::size_t reads_left = 1 + kTermsPerPull / (kMessagesPerRead * (1 + watcher_->terms()));
  while (out.size() < bytes_max && (more_ || !read_.empty())) {
    if (read_.empty()) {
      if (reads_left-- == 0) break;
      Watcher::Next next = watcher_->next(kMessagesPerRead, bytes_max - out.size());
      more_ = next.more;
      std::ranges::move(next.messages, std::back_inserter(read_));
      if (SteadyClock::now() - began >= kPullLasts) reads_left = 0;
    } else {
      if (!append_next(out)) return State::Ended;
      // What an event costs is not to be seen: a row of a Table is short, its object may be large.
      if (SteadyClock::now() - began >= kPullLasts) break;
    }
  }
  const bool more = more_ || !read_.empty();
  count_bytes();
  if (now >= next_bookmark_ && more) {
    next_bookmark_ = now + kBookmarkAgain;
  } else if (now >= next_bookmark_) {
    if (watcher_->position().value > 0)
      write_bookmark(rendering_, {watcher_->position()}, {.columns = first_event()}, out);
    next_bookmark_ = bookmark_after(now, end_);
  }
  if (now >= end_) return State::Ended;
  if (!more) return State::Idle;
  return out.size() < bytes_max ? State::Busy : State::More;
}

void WatchStream::on_news() {
  watcher_->expire();
  count_bytes();
}

// What is read and not sent is the window's too, but the window may drop it before the client
// reads.
void WatchStream::count_bytes() {
  std::size_t bytes = watcher_->held_bytes();
  for (const Watcher::Message& message : read_)
    if (const auto* item = std::get_if<Watcher::Item>(&message))
      bytes += item->object->bytes().size();
  holds_.bytes.resize(bytes);
}

// One event at a time: however large objects are, no more than one is encoded beyond the limit.
bool WatchStream::append_next(std::string& out) {
  const Watcher::Message message = std::move(read_.front());
  read_.pop_front();
  if (const auto* error = std::get_if<Error>(&message)) {
    append_error(*error, out);
    return false;
  }
  if (const auto* item = std::get_if<Watcher::Item>(&message)) {
    append(*item, out);
    return true;
  }
  const auto& bookmark = std::get<Watcher::Bookmark>(message);
  if (bookmarks_)
    write_bookmark(rendering_, {bookmark.revision, bookmark.initial_events_end},
                   {.columns = first_event()}, out);
  return true;
}

void WatchStream::append(const Watcher::Item& item, std::string& out) {
  const std::string_view type = type_name(item.type);
  const bool columns = first_event();
  if (item.entry == nullptr || columns) {
    write_event(rendering_, type, *item.object, item.revision, clock_.now(), {.columns = columns},
                out);
    return;
  }
  const auto encode = [&](const store::Change& /*change*/) {
    std::string text;
    write_event(rendering_, type, *item.object, item.revision, clock_.now(), {.columns = false},
                text);
    return text;
  };
  out += *item.entry->bytes(form_, encode);
}

bool WatchStream::first_event() {
  return rendering_.form == Form::Table && !std::exchange(columns_sent_, true);
}

// Same number, same bytes: two kinds may be views of one store prefix, so the kind belongs to it.
std::uint32_t WatchStream::form_number() const {
  const auto kinds = api::all_kinds();
  const auto kind =
      static_cast<std::uint32_t>(std::ranges::find(kinds, rendering_.kind) - kinds.begin());
  const auto& versions = rendering_.kind->versions;
  const auto version = static_cast<std::uint32_t>(std::ranges::find(versions, rendering_.version) -
                                                  versions.begin());
  const auto form = static_cast<std::uint32_t>(rendering_.form);
  const auto include = static_cast<std::uint32_t>(rendering_.include_object) |
                       (rendering_.meta_version == "v1" ? 0U : 8U);
  return (kind << 12U) | (version << 8U) | (form << 4U) | include;
}

}  // namespace muster::server
