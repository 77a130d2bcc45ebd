#include "server/http/watch_stream.h"

#include <algorithm>
#include <variant>

#include "server/core/request/status.h"

namespace muster::server {
namespace {

constexpr std::chrono::seconds kBookmarkEvery{60};
// A client that is cut off by the timeout resumes from here.
constexpr std::chrono::seconds kLastBookmarkBefore{2};
constexpr std::size_t kMessagesPerRead = 64;

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

WatchStream::WatchStream(Server::OpenWatch watch, const Options& options, const Clock& clock)
    : watcher_(std::move(watch.watcher)),
      subscription_(std::move(watch.subscription)),
      any_change_(std::move(watch.any_change)),
      rendering_(options.rendering),
      bookmarks_(options.bookmarks),
      clock_(clock),
      form_(form_number()),
      end_(options.started + options.timeout),
      next_bookmark_(bookmarks_ ? bookmark_after(options.started, end_) : SteadyTime::max()),
      reach_by_(any_change_ ? options.started + options.unreached_max : SteadyTime::max()) {}

WatchStream::State WatchStream::pull(SteadyTime now, std::size_t bytes_max, std::string& out) {
  if (any_change_) {
    const std::optional<Error> unreached = watcher_->unreached();
    if (unreached && now >= reach_by_) {
      append_error(*unreached, out);
      return State::Ended;
    }
    if (!unreached) {
      any_change_.reset();
      reach_by_ = SteadyTime::max();
    }
  }
  bool more = true;
  while (more && out.size() < bytes_max) {
    Watcher::Next next = watcher_->next(kMessagesPerRead);
    more = next.more;
    for (const Watcher::Message& message : next.messages) {
      if (const auto* error = std::get_if<Error>(&message)) {
        append_error(*error, out);
        return State::Ended;
      }
      if (const auto* bookmark = std::get_if<Watcher::Bookmark>(&message)) {
        if (bookmarks_)
          write_bookmark(rendering_, {bookmark->revision, bookmark->initial_events_end},
                         {.columns = take_columns()}, out);
        continue;
      }
      append(std::get<Watcher::Item>(message), out);
    }
  }
  if (now >= next_bookmark_ && !more) {
    if (watcher_->position().value > 0)
      write_bookmark(rendering_, {watcher_->position()}, {.columns = take_columns()}, out);
    next_bookmark_ = bookmark_after(now, end_);
  }
  if (now >= end_) return State::Ended;
  return more ? State::More : State::Idle;
}

void WatchStream::append(const Watcher::Item& item, std::string& out) {
  const std::string_view type = type_name(item.type);
  const bool columns = take_columns();
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

bool WatchStream::take_columns() {
  return rendering_.form == Form::Table && !std::exchange(columns_told_, true);
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
  const auto include = static_cast<std::uint32_t>(rendering_.include_object);
  return (kind << 12U) | (version << 8U) | (form << 4U) | include;
}

}  // namespace muster::server
