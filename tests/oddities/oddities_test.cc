// Whatever the schema allows, somebody writes. Examples of every kind are made odd, created,
// updated and deleted at random on the whole control plane: every refusal says whose fault it is,
// no component ends or turns in circles, and a scheduler that starts afresh finds nothing that the
// old one had overlooked.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "api/decode.h"
#include "api/reading.h"
#include "api/views/pod_view.h"
#include "api/yaml.h"
#include "client/client.h"
#include "oddities/odd_documents.h"
#include "sim/world.h"

namespace muster::oddities {
namespace {

using api::Json;
using api::JsonObject;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

struct Example {
  const api::Kind* kind;
  Json document;
};

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The group of an apiVersion; "" is core.
std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

std::vector<Example> read_examples() {
  std::vector<std::filesystem::path> files = {MUSTER_ODD_OBJECTS};
  for (const auto& entry : std::filesystem::directory_iterator(MUSTER_EXAMPLES))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::ranges::sort(files);
  std::vector<Example> examples;
  for (const std::filesystem::path& file : files) {
    const std::string text = read_file(file);
    for (const std::string_view document : api::split_yaml_documents(text)) {
      Json read = api::parse_yaml(document).value().value;
      const api::Kind* kind = api::find_kind(group_of(api::find_string(read, "apiVersion")),
                                             api::find_string(read, "kind"));
      if (kind != nullptr) examples.push_back({kind, std::move(read)});
    }
  }
  return examples;
}

class OddDay {
 public:
  explicit OddDay(std::uint64_t seed) : odd_(seed), world_(options(seed)) {
    world_.run_until_idle();
  }

  void step() {
    switch (odd_.below(12)) {
      case 0: remove(); break;
      case 1:
      case 2: update(""); break;
      case 3: update("status"); break;
      default: create();
    }
    world_.advance(seconds{odd_.below(15)});
  }

  // Nothing begins any more, and what was under way has come to its end.
  void calm_down() {
    for (const Known& known : std::exchange(known_, {})) {
      if (known.kind->kind != "CronJob") {
        known_.push_back(known);
        continue;
      }
      if (const api::ObjectPtr object = world_.get(*known.kind, known.name_space, known.name))
        ask(client::delete_request(*object, 0));
    }
    world_.advance(hours{2});
  }

  std::size_t bound_pods() const {
    std::size_t bound = 0;
    for (const api::ObjectPtr& pod : world_.store().list(api::kinds::pod().store_prefix).objects)
      bound += pod->view<api::PodView>().node_name.empty() ? 0 : 1;
    return bound;
  }
  sim::World& world() { return world_; }
  std::size_t accepted() const { return accepted_; }
  std::size_t refused() const { return refused_; }

 private:
  struct Known {
    const api::Kind* kind;
    std::string name_space;
    std::string name;
  };

  static sim::World::Options options(std::uint64_t seed) {
    sim::World::Options options;
    options.seed = seed;
    options.shape.pools.push_back(
        {.zones = 2,
         .racks_per_block = 2,
         .nodes_per_rack = 3,
         .resources = sim::parse_resources("cpu=32,memory=128Gi,nvidia.com/gpu=8").value()});
    return options;
  }

  static const std::vector<Example>& examples() {
    static const std::vector<Example> kExamples = read_examples();
    return kExamples;
  }

  // As the front door does it: what the schema does not know never comes in.
  void send(api::Verb verb, const api::Kind& kind, Json document, std::string_view subresource) {
    const std::string text = api::to_text(document);
    Result<api::Decoded> decoded = api::decode(*kind.message, {std::move(document), {}, 0});
    if (!decoded) {
      ++refused_;
      return;
    }
    const Json& meta = api::part_of(decoded->document, "metadata");
    api::Request request = client::create_request(kind, kind.namespaced ? name_space_of(meta) : "",
                                                  Json(decoded->document));
    request.verb = verb;
    request.subresource = subresource;
    if (verb == api::Verb::Update) request.name = api::find_string(meta, "name");
    const Result<api::Answer> answer = ask(std::move(request));
    if (!answer) {
      EXPECT_NE(answer.error().reason, Reason::InternalError) << answer.error().message << "\n"
                                                              << text;
      return;
    }
    if (verb == api::Verb::Create)
      if (const auto* made = std::get_if<api::ObjectAnswer>(&answer->what))
        known_.push_back({&kind, made->object->meta().name_space, made->object->meta().name});
  }
  Result<api::Answer> ask(api::Request request) {
    Result<api::Answer> answer = world_.ask(std::move(request));
    ++(answer ? accepted_ : refused_);
    return answer;
  }
  static std::string name_space_of(const Json& meta) {
    const std::string_view said = api::find_string(meta, "namespace");
    return said.empty() ? "default" : std::string(said);
  }

  void create() {
    const Example& example = odd_.one_of(examples());
    Json document = example.document;
    for (std::uint64_t left = odd_.below(4); left > 0; --left)
      odd_.change(*example.kind->message, document.get_object());
    const std::string name(api::find_string(api::part_of(example.document, "metadata"), "name"));
    api::ensure_object(document.get_object(), "metadata")["name"] =
        odd_.one_in(3) ? name : fmt::format("{}-{}", name, odd_.below(20));
    send(api::Verb::Create, *example.kind, std::move(document), "");
  }

  api::ObjectPtr any_known() {
    if (known_.empty()) return nullptr;
    const Known& known = odd_.one_of(known_);
    return world_.get(*known.kind, known.name_space, known.name);
  }

  void update(std::string_view subresource) {
    const api::ObjectPtr object = any_known();
    if (object == nullptr) return;
    const api::Kind& kind = object->kind();
    Json document = object->document();
    if (subresource.empty()) {
      odd_.change(*kind.message, document.get_object());
    } else {
      const api::schema::Field* status = kind.message->find("status");
      if (status == nullptr || kind.subresource(subresource) == nullptr) return;
      odd_.change(*status->message, api::ensure_object(document.get_object(), "status"));
    }
    api::ensure_object(document.get_object(), "metadata").erase("resourceVersion");
    send(api::Verb::Update, kind, std::move(document), subresource);
  }

  void remove() {
    if (const api::ObjectPtr object = any_known()) ask(client::delete_request(*object, {}));
  }

  OddDocuments odd_;
  sim::World world_;
  std::vector<Known> known_;
  std::size_t accepted_ = 0;
  std::size_t refused_ = 0;
};

int seeds() { return std::getenv("MUSTER_TEST_LONG") != nullptr ? 200 : 6; }

TEST(Oddities, NobodyEndsTurnsInCirclesOrOverlooksAnything) {
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (int seed = 1; seed <= seeds(); ++seed) {
    SCOPED_TRACE(seed);
    OddDay day(static_cast<std::uint64_t>(seed));
    for (int step = 0; step < 150; ++step) day.step();
    day.calm_down();
    const std::int64_t before = day.world().store().revision().value;
    day.world().advance(hours{1});
    const std::int64_t writes = day.world().store().revision().value - before;
    const auto objects = std::ssize(day.world().store().list("").objects);
    EXPECT_LT(writes, 60 + 2 * objects) << "an hour in which nobody asks for anything";
    const std::size_t bound = day.bound_pods();
    day.world().restart_scheduler();
    day.world().restart_controllers();
    day.world().advance(minutes{10});
    EXPECT_EQ(day.bound_pods(), bound);
    accepted += day.accepted();
    refused += day.refused();
  }
  fmt::print("{} accepted, {} refused\n", accepted, refused);
  EXPECT_GT(accepted, refused / 4) << "most of what is refused at once reaches nobody";
}

}  // namespace
}  // namespace muster::oddities
