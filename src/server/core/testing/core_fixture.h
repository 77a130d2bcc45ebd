#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/request.h"
#include "base/entropy.h"
#include "base/time.h"
#include "server/core/bootstrap/bootstrap.h"
#include "server/core/read/reader.h"
#include "server/core/read/watcher.h"
#include "server/core/request/decode_body.h"
#include "server/core/server.h"
#include "server/core/write/registry.h"
#include "store/engines/memory.h"
#include "store/store.h"
#include "watch/window.h"

namespace muster::server {

using api::Answer;
using api::PatchType;
using api::Request;
using api::Verb;

// What a list or watch asks for, every part optional.
struct Asking {
  std::string labels = {};
  std::string fields = {};
  std::int64_t limit = 0;
  std::string token = {};
  std::string version = {};
  std::string match = {};
  bool bookmarks = false;
  std::optional<bool> initial = std::nullopt;

  api::ListOptions options() const {
    api::ListOptions out;
    out.label_selector = labels;
    out.field_selector = fields;
    out.limit = limit;
    out.continue_token = token;
    out.resource_version = version;
    out.resource_version_match = match;
    out.allow_bookmarks = bookmarks;
    out.send_initial_events = initial;
    return out;
  }
};

// A server core over a memory engine, at a fixed time, with seeded randomness: tests read like
// kubectl.
class CoreTest : public ::testing::Test {
 protected:
  explicit CoreTest(std::unique_ptr<store::Engine> engine = store::make_memory_engine(),
                    watch::Limits limits = {},
                    Registry::Validation validation = Registry::Validation::On,
                    const api::Gates& gates = {})
      : store_(store::Store::open(std::move(engine)).value()),
        window_(limits),
        reader_(*store_, window_, gates),
        registry_(*store_, entropy_, validation, gates),
        server_(reader_, [this](Request& request, Reply& reply) {
          registry_.submit(std::move(request), now_, std::move(reply));
          return true;
        }) {
    window_.start(store_->compacted());
    store_->listen([this](std::span<const store::Change> changes) { window_.append(changes); });
    bootstrap(registry_, *store_, now_);
  }

  static const api::Kind& pods() { return api::kinds::pod(); }
  static const api::Kind& nodes() { return api::kinds::node(); }
  static const api::Kind& namespaces() { return api::kinds::name_space(); }

  static Request request(Verb verb, const api::Kind& kind, std::string_view name_space,
                         std::string_view name = {}) {
    Request out;
    out.verb = verb;
    out.kind = &kind;
    out.version = kind.stored_version;
    out.name_space = name_space;
    out.name = name;
    return out;
  }

  // Sends one request and waits for its answer.
  Result<Answer> send(Request request) {
    std::optional<Result<Answer>> answer;
    server_.handle(std::move(request), [&](Result<Answer> a) { answer = std::move(a); });
    registry_.flush();
    EXPECT_TRUE(answer.has_value()) << "no answer";
    return std::move(answer).value_or(fail(Reason::InternalError, "no answer"));
  }
  Result<Answer> send_body(Request request, std::string_view json) {
    if (auto decoded = decode_into(request, json); !decoded) return fail(decoded.error());
    return send(std::move(request));
  }

  Result<Answer> create(const api::Kind& kind, std::string_view name_space, std::string_view json) {
    return send_body(request(Verb::Create, kind, name_space), json);
  }
  Result<Answer> update(const api::Kind& kind, std::string_view name_space, std::string_view name,
                        std::string_view json, std::string_view subresource = {}) {
    Request put = request(Verb::Update, kind, name_space, name);
    put.subresource = subresource;
    return send_body(std::move(put), json);
  }
  Result<Answer> patch(const api::Kind& kind, std::string_view name_space, std::string_view name,
                       PatchType type, std::string_view json, std::string_view subresource = {}) {
    Request out = request(Verb::Patch, kind, name_space, name);
    out.subresource = subresource;
    out.patch_type = type;
    out.body = api::parse_json(json).value().value;
    return send(std::move(out));
  }
  Result<Answer> merge(const api::Kind& kind, std::string_view name_space, std::string_view name,
                       std::string_view json, std::string_view subresource = {}) {
    return patch(kind, name_space, name, PatchType::Merge, json, subresource);
  }
  Result<Answer> remove(const api::Kind& kind, std::string_view name_space, std::string_view name,
                        api::DeleteOptions options = {}) {
    Request out = request(Verb::Delete, kind, name_space, name);
    out.remove = std::move(options);
    return send(std::move(out));
  }
  Result<Answer> get(const api::Kind& kind, std::string_view name_space, std::string_view name) {
    return send(request(Verb::Get, kind, name_space, name));
  }
  Result<Answer> list(const api::Kind& kind, std::string_view name_space,
                      const Asking& asking = {}) {
    Request out = request(Verb::List, kind, name_space);
    out.list = asking.options();
    return send(std::move(out));
  }
  Result<Answer> bind(std::string_view pod, std::string_view node) {
    Request out = request(Verb::Create, pods(), "default", pod);
    out.subresource = "binding";
    return send_body(std::move(out), std::string(R"({"metadata":{"name":")")
                                         .append(pod)
                                         .append(R"("},"target":{"kind":"Node","name":")")
                                         .append(node)
                                         .append("\"}}"));
  }

  // A pod with one container, in namespace default.
  static std::string pod_json(std::string_view name, std::string_view spec_members = {},
                              std::string_view metadata_members = {}) {
    std::string out = R"({"metadata":{"name":")";
    out.append(name).append("\"");
    if (!metadata_members.empty()) out.append(",").append(metadata_members);
    out.append(R"(},"spec":{"containers":[{"name":"c","image":"i"}])");
    if (!spec_members.empty()) out.append(",").append(spec_members);
    return out.append("}}");
  }
  Result<Answer> create_pod(std::string_view name, std::string_view spec_members = {},
                            std::string_view metadata_members = {}) {
    return create(pods(), "default", pod_json(name, spec_members, metadata_members));
  }

  // What a client sees.
  static std::string seen(const Result<Answer>& answer) {
    if (!answer) return "error: " + answer.error().message;
    std::string out;
    if (const auto* one = std::get_if<api::ObjectAnswer>(&answer->what))
      api::encode(*one->object, one->revision, {}, out);
    return out;
  }
  // The value at a dotted path of the answered object: text bare, anything else as JSON, "" if
  // absent.
  static std::string at(const Result<Answer>& answer, std::string_view path) {
    const auto parsed = api::parse_json(seen(answer));
    if (!parsed) return seen(answer);
    const api::Json* value = api::find_path(parsed->value, path);
    if (value == nullptr) return {};
    return value->is_string() ? std::string(value->get_string()) : api::to_text(*value);
  }
  static std::string message(const Result<Answer>& answer) {
    return answer ? "no error" : answer.error().message;
  }
  static Reason reason(const Result<Answer>& answer) {
    EXPECT_FALSE(answer.has_value());
    return answer ? Reason::InternalError : answer.error().reason;
  }
  static api::Revision revision(const Result<Answer>& answer) {
    if (!answer) return {};
    if (const auto* one = std::get_if<api::ObjectAnswer>(&answer->what)) return one->revision;
    if (const auto* many = std::get_if<api::ListAnswer>(&answer->what)) return many->revision;
    return {};
  }
  static std::string version(const Result<Answer>& answer) {
    return std::to_string(revision(answer).value);
  }
  static const api::ListAnswer& items(const Result<Answer>& answer) {
    static const api::ListAnswer kNone;
    EXPECT_TRUE(answer.has_value()) << message(answer);
    return answer ? std::get<api::ListAnswer>(answer->what) : kNone;
  }
  // "a b c"
  static std::string names(const Result<Answer>& answer) {
    std::string out;
    for (const api::ObjectPtr& object : items(answer).items)
      out += (out.empty() ? "" : " ") + object->meta().name;
    return out;
  }

  std::unique_ptr<Watcher> watch(const api::Kind& kind, const Asking& asking = {}) {
    Request out = request(Verb::Watch, kind, "");
    out.list = asking.options();
    auto opened = Watcher::open(out, *store_, window_);
    EXPECT_TRUE(opened.has_value()) << (opened ? "" : opened.error().message);
    return opened ? std::move(*opened) : nullptr;
  }
  // "+a ~b -c |" for added, modified, deleted, bookmark; "!text" for an error.
  static std::string seen_by(Watcher& watcher, std::size_t max = 1000) {
    std::string out;
    const auto say = [&](const std::string& word) { out += (out.empty() ? "" : " ") + word; };
    for (const Watcher::Message& message : watcher.next(max).messages) {
      if (const auto* item = std::get_if<Watcher::Item>(&message)) {
        constexpr std::string_view kSigns = "+~-";
        say(kSigns[static_cast<std::size_t>(item->type)] + item->object->meta().name);
      } else if (const auto* mark = std::get_if<Watcher::Bookmark>(&message)) {
        say(mark->initial_events_end ? "|" : "bookmark");
      } else {
        say("!" + std::get<Error>(message).message);
      }
    }
    return out;
  }

  Time now_ = *parse_time("2026-05-01T10:00:00Z");
  SeededEntropy entropy_{1};
  std::unique_ptr<store::Store> store_;
  watch::Window window_;
  Reader reader_;
  Registry registry_;
  Server server_;
};

}  // namespace muster::server
