#include "api/schema/schema.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <map>
#include <memory>
#include <utility>

#include "api/schema/descriptions.h"
#include "api/schema/tables.h"
#include "base/check.h"

namespace muster::api::schema {
namespace {

// Of a member's name: a few of its letters and its length tell most names of one message apart.
std::size_t name_hash(std::string_view name) {
  if (name.empty()) return 0;
  const auto letter = [&](std::size_t i) { return static_cast<unsigned char>(name[i]); };
  const std::size_t last = name.size() - 1;
  return (letter(0) * 7U) ^ (letter(last / 2) * 31U) ^ (letter(last) * 131U) ^ (name.size() * 17U);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<Shape> scalar_shape(std::string_view type) {
  static const std::map<std::string_view, Shape> kShapes = {
      {"string", Shape::String},     {"bool", Shape::Bool},
      {"int32", Shape::Int32},       {"int64", Shape::Int64},
      {"double", Shape::Double},     {"bytes", Shape::Bytes},
      {"Quantity", Shape::Quantity}, {"IntOrString", Shape::IntOrString},
      {"Time", Shape::Time},         {"MicroTime", Shape::MicroTime},
      {"Duration", Shape::Duration}, {"Any", Shape::Any},
  };
  const auto found = kShapes.find(type);
  if (found == kShapes.end()) return std::nullopt;
  return found->second;
}

// "core/v1" and "PodSpec" for a type written as PodSpec, core.PodSpec or core.v1.PodSpec.
std::pair<std::string, std::string> message_name(std::string_view package, std::string_view type) {
  const std::vector<std::string> parts = split(type, '.');
  if (parts.size() == 1) return {std::string(package), parts[0]};
  if (parts.size() == 2) return {parts[0] + "/v1", parts[1]};
  CHECK_THAT(parts.size() == 3, "{}: no such type: {}", package, type);
  return {parts[0] + "/" + parts[1], parts[2]};
}

// Reads all tables; afterwards nothing changes.
class Catalog {
 public:
  Catalog() {
    for (const Table* table : {&kMeta,
                               &kPods,
                               &kNodes,
                               &kVolumes,
                               &kCore,
                               &kSchedulingV1,
                               &kSchedulingV1beta1,
                               &kSchedulingV1alpha3,
                               &kSchedulingV1alpha3Only,
                               &kBatch,
                               &kAppsV1,
                               &kAutoscalingV1,
                               &kPolicy,
                               &kCoordination,
                               &kEvents,
                               &kRbacV1,
                               &kAuthenticationV1,
                               &kAuthorizationV1,
                               &kResource,
                               &kStorage,
                               &kDiscovery,
                               &kJobSet,
                               &kLeaderWorkerSet,
                               &kMusterV1alpha1,
                               &kSchedulerConfig})
      read(*table);
    describe();
    for (const Link& link : links_) resolve(link);
    for (const auto& message : messages_) flatten(*message);
    mark_defaults();
    for (const auto& message : messages_) all_.push_back(message.get());
  }

  const Message* find(std::string_view package, std::string_view name) const {
    const auto found = by_name_.find(full_name(package, name));
    return found == by_name_.end() ? nullptr : found->second;
  }
  std::span<const Message* const> all() const { return all_; }

 private:
  // A field whose type is a message that may not have been read yet.
  struct Link {
    Message* owner;
    std::size_t field;
    std::string package;
    std::string name;
  };

  static std::string full_name(std::string_view package, std::string_view name) {
    return std::string(package) + "." + std::string(name);
  }

  void read(const Table& table) {
    Message* current = nullptr;
    for (std::string_view rest = table.text; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.empty()) continue;
      if (line[0] != ' ') {
        current = &add_message(table.package, line);
        continue;
      }
      CHECK_THAT(current != nullptr, "{}: a field outside of a message: {}", table.package, line);
      std::string_view text = line.substr(line.find_first_not_of(' '));
      if (!take_prefix(text, "-- ")) {
        add_field(*current, text);
        continue;
      }
      CHECK_THAT(!current->fields.empty(), "{}: a sentence about no field: {}", table.package,
                 line);
      current->fields.back().doc = text;
    }
  }

  // Gives fields that the tables say nothing about the sentence of their name.
  void describe() {
    std::map<std::string_view, std::string_view> sentences;
    for (std::string_view rest :
         {kCommonDescriptions, kWorkloadDescriptions, kPodDescriptions, kStorageDescriptions}) {
      while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.empty()) continue;
        const std::size_t dashes = line.find(" -- ");
        CHECK_THAT(dashes != std::string_view::npos, "no description: {}", line);
        const bool added =
            sentences.emplace(line.substr(0, dashes), line.substr(dashes + 4)).second;
        CHECK_THAT(added, "described twice: {}", line);
      }
    }
    for (const auto& message : messages_)
      for (Field& field : message->fields) {
        if (!field.doc.empty()) continue;
        auto found = sentences.find(message->name + "." + field.name);
        if (found == sentences.end()) found = sentences.find(field.name);
        if (found != sentences.end()) field.doc = found->second;
      }
  }

  Message& add_message(std::string_view package, std::string_view line) {
    auto message = std::make_unique<Message>();
    message->package = package;
    const std::size_t doc = line.find(" -- ");
    if (doc != std::string_view::npos) message->doc = line.substr(doc + 4);
    const std::vector<std::string_view> words = words_of(line.substr(0, doc));
    message->name = words[0];
    message->object = words.size() == 2 && words[1] == "object";
    CHECK_THAT(words.size() == 1 || message->object, "{}: unknown word: {}", package, line);
    const bool added =
        by_name_.emplace(full_name(message->package, message->name), message.get()).second;
    CHECK_THAT(added, "{} occurs twice in {}", message->name, package);
    messages_.push_back(std::move(message));
    return *messages_.back();
  }

  void add_field(Message& message, std::string_view line) {
    const std::vector<std::string_view> words = words_of(line);
    CHECK_THAT(words.size() >= 3, "{}: a field needs number, name and type: {}", message.name,
               line);
    Field field;
    const auto number = std::from_chars(words[0].begin(), words[0].end(), field.number);
    CHECK_THAT(number.ec == std::errc() && number.ptr == words[0].end(), "{}: no number: {}",
               message.name, line);
    field.name = words[1];
    field.label = '"' + field.name + "\":";  // it has nothing to escape
    add_type(message, field, words[2]);
    for (std::size_t i = 3; i < words.size(); ++i)
      CHECK_THAT(add_word(field, words[i]), "{}.{}: unknown word: {}", message.name, field.name,
                 words[i]);
    message.fields.push_back(std::move(field));
  }

  void add_type(Message& message, Field& field, std::string_view type) {
    field.optional = take_prefix(type, "*");
    if (take_prefix(type, "[]")) field.repeat = Repeat::List;
    if (take_prefix(type, "{}")) field.repeat = Repeat::Map;
    if (const auto shape = scalar_shape(type)) {
      field.shape = *shape;
      return;
    }
    field.shape = Shape::Message;
    auto [package, name] = message_name(message.package, type);
    links_.push_back({&message, message.fields.size(), std::move(package), std::move(name)});
  }

  static bool add_word(Field& field, std::string_view word) {
    if (word == "always") return field.always = true;
    if (word == "inline") return field.inlined = true;
    if (word == "required") return field.required = true;
    if (word == "retainKeys") return field.retain_keys = true;
    if (word == "replace") return field.replaces = true;
    if (word == "atomic") return field.atomic_map = true;
    if (word == "merge") return field.merges = true;
    if (take_prefix(word, "merge=")) {
      field.merge_keys = {std::string(word)};
      return field.merges = true;
    }
    if (take_prefix(word, "list=")) {
      field.list_type = word == "set" ? ListType::Set : ListType::Map;
      if (field.list_type == ListType::Map) field.list_keys = split(word, ',');
      return true;
    }
    if (take_prefix(word, "default=")) return !(field.default_text = word).empty();
    if (take_prefix(word, "allowed=")) return !(field.allowed = split(word, '|')).empty();
    return false;
  }

  void resolve(const Link& link) {
    Field& field = link.owner->fields[link.field];
    field.message = find(link.package, link.name);
    CHECK_THAT(field.message != nullptr, "{}.{}: no message {} in {}", link.owner->name, field.name,
               link.name, link.package);
  }

  static void collect_members(const Message& message, std::vector<const Field*>& members) {
    for (const Field& field : message.fields) {
      if (field.inlined && field.repeat == Repeat::One)
        collect_members(*field.message, members);
      else
        members.push_back(&field);
    }
  }

  static void flatten(Message& message) {
    collect_members(message, message.members);
    message.members_by_name.resize(std::bit_ceil(2 * message.members.size() + 1));
    CHECK(message.members.size() < std::numeric_limits<std::uint16_t>::max());
    const auto count = static_cast<std::uint16_t>(message.members.size());
    for (std::uint16_t i = 0; i < count; ++i) {
      if (message.members[i]->always) message.members_always.push_back(i);
      const std::string_view name = message.members[i]->name;
      CHECK_THAT(!message.position(name), "{}.{} occurs twice", message.name, name);
      std::size_t slot = name_hash(name);
      while (message.members_by_name[slot & (message.members_by_name.size() - 1)] != 0) ++slot;
      message.members_by_name[slot & (message.members_by_name.size() - 1)] =
          static_cast<std::uint16_t>(i + 1);
    }
  }

  // Messages may contain each other in circles, so the mark travels until nothing changes.
  void mark_defaults() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& message : messages_) {
        if (message->defaults_within) continue;
        message->defaults_within = std::ranges::any_of(message->members, [](const Field* field) {
          return !field->default_text.empty() ||
                 (field->message != nullptr && field->message->defaults_within);
        });
        changed |= message->defaults_within;
      }
    }
  }

  std::vector<std::unique_ptr<Message>> messages_;
  std::map<std::string, const Message*> by_name_;
  std::vector<Link> links_;
  std::vector<const Message*> all_;
};

const Catalog& catalog() {
  static const Catalog* const kCatalog = new Catalog();
  return *kCatalog;
}

}  // namespace

std::optional<std::size_t> Message::position(std::string_view json_name) const {
  const std::size_t mask = members_by_name.size() - 1;
  for (std::size_t slot = name_hash(json_name);; ++slot) {
    const std::uint16_t entry = members_by_name[slot & mask];
    if (entry == 0) return std::nullopt;
    if (members[entry - 1U]->name == json_name) return entry - 1U;
  }
}

const Field* Message::find(std::string_view json_name) const {
  const auto at = position(json_name);
  return at ? members[*at] : nullptr;
}

const Field* Message::bare_list() const {
  return fields.size() == 1 && fields[0].inlined && fields[0].repeat == Repeat::List ? &fields[0]
                                                                                     : nullptr;
}

const Message& message(std::string_view package, std::string_view name) {
  const Message* found = catalog().find(package, name);
  CHECK_THAT(found != nullptr, "no message {} in {}", name, package);
  return *found;
}

std::span<const Message* const> all_messages() { return catalog().all(); }

}  // namespace muster::api::schema
