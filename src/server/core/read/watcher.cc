#include "server/core/read/watcher.h"

#include <algorithm>
#include <utility>

#include "server/core/request/errors.h"
#include "server/core/request/resource_version.h"
#include "server/core/request/selection.h"

namespace muster::server {

using store::Change;

//   (the asked revision is reached) ──▶ initial objects ──▶ bookmark (initial-events-end)
//                                   ──▶ changes after `cursor` …
//
// A watch from revision N starts with the changes.
struct Watcher::State {
  Selection selection;
  const store::Store& store;
  const watch::Window& window;
  std::string prefix;  // of the window's ring

  bool to_list = false;  // the initial objects are still to be read, at `cursor` or later
  std::vector<api::ObjectPtr> initial;  // not sent before `sent`
  std::size_t sent = 0;
  bool mark_end = false;  // the bookmark after the initial objects is still to be sent
  api::Revision cursor;   // everything up to here has been sent or belongs to `initial`
  bool ended = false;

  void list();
  void forget_initial();
};

// The listing's revision is where the changes begin, so nothing falls between the two. Those that
// match are taken over one by one: a few of many must not keep the room of all.
void Watcher::State::list() {
  store::Store::Listing listing = store.list(selection.prefix());
  if (selection.selects_everything()) {
    initial = std::move(listing.objects);
  } else {
    for (api::ObjectPtr& object : listing.objects)
      if (selection.matches(*object)) initial.push_back(std::move(object));
  }
  initial.shrink_to_fit();
  cursor = listing.revision;
  to_list = false;
}

// Gives their room back, too: clear() would keep it for as long as the watch lasts.
void Watcher::State::forget_initial() {
  if (initial.capacity() > 0) (void)std::exchange(initial, {});
  sent = 0;
}

namespace {

// Read in search of fields before the caller gets a say: some hundred microseconds.
constexpr std::size_t kSearchedMax = std::size_t{256} << 10U;

// The bytes that seen_through() may have to read: a selector looks for its fields in the object as
// it was and as it is.
std::size_t searched_in(const Selection& selection, const Change& change) {
  if (!selection.searches()) return 0;
  std::size_t bytes = change.previous ? change.previous->bytes().size() : 0;
  if (change.type != Change::Type::Deleted) bytes += change.object->bytes().size();
  return bytes;
}

// What the selector makes of a change: an object that starts to match is Added, one that stops is
// Deleted.
std::optional<Watcher::Item> seen_through(const Selection& selection,
                                          const std::shared_ptr<const watch::Entry>& entry) {
  const Change& change = entry->change();
  const bool matched = change.previous && selection.matches(*change.previous);
  const bool matches = change.type != Change::Type::Deleted && selection.matches(*change.object);
  if (!matched && !matches) return std::nullopt;

  Watcher::Item item{
      .type = change.type, .object = change.object, .revision = change.revision, .entry = entry};
  if (!matched) item.type = Change::Type::Added;
  if (!matches) item.type = Change::Type::Deleted;
  if (item.type == change.type) return item;
  if (item.type == Change::Type::Deleted) item.object = change.previous;
  item.entry = nullptr;
  return item;
}

}  // namespace

Result<std::unique_ptr<Watcher>> Watcher::open(const api::Request& request,
                                               const store::Store& store,
                                               const watch::Window& window) {
  const api::ListOptions& options = request.list;
  TRY(check_watch_options(options));
  const api::Revision asked = TRY(parse_resource_version(options.resource_version));
  auto state = std::make_unique<State>(State{.selection = TRY(Selection::of(request)),
                                             .store = store,
                                             .window = window,
                                             .prefix = request.kind->store_prefix,
                                             .to_list = false,
                                             .initial = {},
                                             .sent = 0,
                                             .mark_end = false,
                                             .cursor = asked,
                                             .ended = false});
  const bool from_now = asked.value == 0;
  if (options.send_initial_events.value_or(from_now)) {
    state->to_list = true;
    state->mark_end = options.allow_bookmarks;
    if (asked <= store.revision()) state->list();
  } else if (from_now) {
    state->cursor = store.revision();
  }
  return std::unique_ptr<Watcher>(new Watcher(std::move(state)));
}

Watcher::Next Watcher::next(std::size_t max, std::size_t bytes_max) {
  State& s = *state_;
  Next out;
  if (s.ended) return out;
  if (s.to_list) {
    if (s.cursor > s.store.revision()) return out;
    s.list();
  }
  std::size_t bytes = 0;
  while (s.sent < s.initial.size() && out.messages.size() < max && bytes < bytes_max) {
    api::ObjectPtr object = std::move(s.initial[s.sent++]);
    const api::Revision revision = object->revision();
    bytes += object->bytes().size();
    out.messages.emplace_back(Item{.type = Change::Type::Added,
                                   .object = std::move(object),
                                   .revision = revision,
                                   .entry = nullptr});
  }
  if (s.sent < s.initial.size()) {
    out.more = true;
    return out;
  }
  s.forget_initial();
  if (s.mark_end && out.messages.size() < max) {
    out.messages.emplace_back(Bookmark{.revision = s.cursor, .initial_events_end = true});
    s.mark_end = false;
  }
  if (out.messages.size() >= max || bytes >= bytes_max) {
    out.more = true;
    return out;
  }

  // A watch from a revision we have not reached waits for it silently.
  auto batch = s.window.read(s.prefix, s.cursor, max - out.messages.size());
  if (!batch) {
    out.messages.emplace_back(std::move(batch.error()));
    s.ended = true;
    return out;
  }
  std::size_t searched = 0;
  for (const auto& entry : batch->entries) {
    if (bytes >= bytes_max || searched >= kSearchedMax) {
      out.more = true;
      return out;
    }
    searched += searched_in(s.selection, entry->change());
    if (auto item = seen_through(s.selection, entry)) {
      bytes += item->object->bytes().size();
      out.messages.emplace_back(*std::move(item));
    }
    s.cursor = entry->change().revision;
  }
  s.cursor = std::max(s.cursor, batch->next);
  out.more = batch->more;
  return out;
}

std::size_t Watcher::terms() const { return state_->selection.terms(); }

std::size_t Watcher::held_bytes() const {
  const State& s = *state_;
  return s.initial.capacity() * sizeof(api::ObjectPtr);
}

void Watcher::expire() {
  State& s = *state_;
  if (s.initial.empty() || s.window.read(s.prefix, s.cursor, 0)) return;
  s.forget_initial();
  s.mark_end = false;  // they have not all been sent
}

api::Revision Watcher::position() const {
  // Until the initial objects are out, nothing may be skipped by a bookmark.
  const State& s = *state_;
  return !s.to_list && s.initial.empty() && !s.mark_end ? s.cursor : api::Revision{};
}

std::optional<Error> Watcher::unreached() const {
  const State& s = *state_;
  if (!s.to_list || s.cursor <= s.store.revision()) return std::nullopt;
  return too_large_resource_version(s.cursor.value, s.store.revision().value);
}

Watcher::Watcher(std::unique_ptr<State> state) : state_(std::move(state)) {}
Watcher::~Watcher() = default;

}  // namespace muster::server
