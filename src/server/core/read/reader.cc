#include "server/core/read/reader.h"

#include <algorithm>
#include <utility>

#include "server/core/request/errors.h"
#include "server/core/request/resource_version.h"
#include "server/core/request/scale_view.h"
#include "server/core/request/selection.h"

namespace muster::server {
namespace {

using Listing = PinnedListings::Listing;

struct ListSources {
  const store::Store& store;
  const watch::Window& window;
  PinnedListings& pins;
};

Error list_expired() {
  return make_error(Reason::Expired, "The resourceVersion for the provided list is too old.");
}

Error page_expired() {
  return make_error(
      Reason::Expired,
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this response "
      "to retrieve the remainder of the results. Continuing with the provided token results in an "
      "inconsistent list - objects that were created, modified, or deleted between the time the "
      "first chunk was returned and now may show up in the list.");
}

Result<api::Revision> known_revision(const store::Store& store, std::string_view text) {
  const api::Revision asked = TRY(parse_resource_version(text));
  const api::Revision current = store.revision();
  if (asked > current) return fail(too_large_resource_version(asked.value, current.value));
  return asked;
}

Listing newest(const ListSources& from, const Selection& selection) {
  if (selection.only_key().empty())
    return std::make_shared<store::Store::Listing>(from.store.list(selection.prefix()));
  // The revision first: a watch that goes on from it may see a change twice, but cannot miss one.
  store::Store::Listing one{.objects = {}, .revision = from.store.revision()};
  if (api::ObjectPtr object = from.store.get(selection.only_key()))
    one.objects.push_back(std::move(object));
  return std::make_shared<store::Store::Listing>(std::move(one));
}

// The state at exactly this revision; null if it is gone.
Listing exactly(const ListSources& from, const api::Request& request, const Selection& selection,
                api::Revision revision) {
  if (Listing pinned = from.pins.find(selection.prefix(), revision)) return pinned;
  auto listing = std::make_shared<store::Store::Listing>(from.store.list(selection.prefix()));
  if (listing->revision == revision) return listing;
  // Other kinds may have changed since; this one is still as it was.
  if (from.window.newest() < listing->revision) return nullptr;
  const auto since = from.window.read(request.kind->store_prefix, revision, 1);
  if (!since || !since->entries.empty()) return nullptr;
  listing->revision = revision;
  return listing;
}

struct Start {
  Listing listing;
  std::string after;  // the relative key to start at; empty = the first
};

Result<Start> find_page(const ListSources& from, const api::Request& request,
                        const Selection& selection) {
  if (!request.list.resource_version.empty() && request.list.resource_version != "0")
    return fail(Reason::BadRequest,
                "specifying resource version is not allowed when using continue");
  ContinueToken token = TRY(ContinueToken::parse(request.list.continue_token));
  Listing listing = token.revision.value < 0 ? newest(from, selection)
                                             : exactly(from, request, selection, token.revision);
  if (!listing) return fail(page_expired());
  return Start{.listing = std::move(listing), .after = std::move(token.start)};
}

Result<Start> find_listing(const ListSources& from, const api::Request& request,
                           const Selection& selection) {
  const api::ListOptions& options = request.list;
  if (!options.continue_token.empty()) return find_page(from, request, selection);
  const api::Revision asked = TRY(known_revision(from.store, options.resource_version));
  // A limit with a revision but no match means exactly that revision, for historical reasons.
  const bool exact =
      options.resource_version_match == "Exact" ||
      (options.limit > 0 && asked.value > 0 && options.resource_version_match.empty());
  Listing listing = exact ? exactly(from, request, selection, asked) : newest(from, selection);
  if (!listing) return fail(list_expired());
  return Start{.listing = std::move(listing), .after = {}};
}

Result<api::Answer> read_object(const store::Store& store, const api::Request& request) {
  TRY(known_revision(store, request.list.resource_version));
  api::ObjectPtr object =
      store.get(store::make_key(*request.kind, request.name_space, request.name));
  if (!object) return fail(not_found(*request.kind, request.name));
  const api::Revision revision = object->revision();
  if (request.subresource == kScale)
    return api::Answer{.what = scale_of(*object, revision), .warnings = {}};
  return api::Answer{
      .what =
          api::ObjectAnswer{.object = std::move(object), .revision = revision, .created = false},
      .warnings = {}};
}

}  // namespace

Reader::Reader(store::Store& store, watch::Window& window, const api::Gates& gates)
    : store_(store), window_(window), served_(served_kinds(gates)), tally_(store) {}

Result<api::Answer> Reader::read(const api::Request& request) const {
  if (request.verb == api::Verb::Get) return read_object(store_, request);
  if (request.verb != api::Verb::List)
    return fail(internal_error("a write was sent to the reader"));
  const std::unique_ptr<ListReading> list = TRY(begin_list(request));
  while (list->look_on()) {
  }
  return list->answer();
}

Result<std::unique_ptr<ListReading>> Reader::begin_list(const api::Request& request) const {
  TRY(check_list_options(request.list));
  Selection selection = TRY(Selection::of(request));
  pins_.end_outdated(window_);
  Start start =
      TRY(find_listing({.store = store_, .window = window_, .pins = pins_}, request, selection));
  return std::make_unique<ListReading>(
      std::move(selection), std::move(start.listing),
      ListReading::Range{
          .from = std::move(start.after),
          .limit = static_cast<std::size_t>(std::max<std::int64_t>(request.list.limit, 0))},
      pins_);
}

std::size_t Reader::size_of(const api::Request& request) const {
  const api::ObjectPtr object =
      store_.get(store::make_key(*request.kind, request.name_space, request.name));
  return object ? object->bytes().size() : 0;
}

bool Reader::has_reached(const api::Request& request) const {
  const auto asked = parse_resource_version(request.list.resource_version);
  return !asked || *asked <= store_.revision();
}

Result<Reader::OpenWatch> Reader::watch(const api::Request& request,
                                        watch::Window::Wake wake) const {
  // Subscribe first: a change between the two is then a wake too many, never one too few.
  OpenWatch out;
  out.subscription = window_.subscribe(request.kind->store_prefix, wake);
  out.watcher = TRY(Watcher::open(request, store_, window_));
  if (out.watcher->unreached()) out.any_change = listen(std::move(wake));
  return out;
}

std::unique_ptr<watch::Window::Subscription> Reader::listen(watch::Window::Wake wake) const {
  return window_.subscribe("", std::move(wake));
}

}  // namespace muster::server
