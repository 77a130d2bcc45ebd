#include <boost/unordered/unordered_flat_set.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "server/access/roles.h"
#include "server/access/rule_index.h"

// What bindings say to a question. roles.cc keeps them.
namespace muster::server {
namespace {

// Up to so many bindings, and texts in the rules of their roles, are looked at one by one.
constexpr std::size_t kFewBindings = 32;
constexpr std::size_t kFewTexts = 1'000;

// What is missing, each once. A hundred are named: who may write bindings may leave any number that
// lead nowhere, and every refusal would name them all.
class Missing {
 public:
  // Whether it is named now, and was not before.
  bool add(std::string_view role_kind, std::string_view name) {
    constexpr std::size_t kNamed = 100;
    if (texts_.size() >= kNamed) return false;
    std::string text = role_not_found(role_kind, name);
    if (std::ranges::find(texts_, text) != texts_.end()) return false;
    texts_.push_back(std::move(text));
    return true;
  }
  bool empty() const { return texts_.empty(); }
  // As upstream joins errors: in brackets if there is more than one.
  std::string text() const {
    if (texts_.size() < 2) return texts_.empty() ? "" : texts_.front();
    return fmt::format("[{}]", fmt::join(texts_, ", "));
  }

 private:
  std::vector<std::string> texts_;
};

}  // namespace

// What is known of the bindings of one subject in one namespace once there are many: where the
// rules of their roles stand, and the bindings that a refusal names since their role is missing.
struct Roles::Prepared {
  struct Place {
    std::uint32_t binding;
    std::uint32_t rule;  // in its role
  };
  std::vector<Place> places;
  std::vector<std::uint32_t> lost;
  RuleIndex index;
};

// What the bindings of a user in one namespace say to a question.
struct Roles::Reply {
  const Found* allowing = nullptr;      // the first by name of those that allow it
  std::vector<const Found*> lost = {};  // their role is missing
  std::size_t work = 0;

  static auto place(const Found* found) { return std::tie(found->binding->name, found->subject); }
  void allow(const Found& found) {
    if (allowing == nullptr || place(&found) < place(allowing)) allowing = &found;
  }
};

std::string role_not_found(std::string_view role_kind, std::string_view name) {
  return fmt::format(R"({}.rbac.authorization.k8s.io "{}" not found)",
                     role_kind == "ClusterRole" ? "clusterrole" : "role", name);
}

std::vector<const Roles::Role*> Roles::roles_of(const Bindings& theirs) const {
  std::vector<const Role*> out;
  out.reserve(theirs.size());
  for (const Found& found : theirs) out.push_back(role_of(found));
  return out;
}

// ClusterRoleBinding "x" of ClusterRole "y" to Group "z", as upstream's reasons say it.
std::string Roles::reason_of(const Binding& binding, const Subject& subject) {
  const std::string bound = binding.name_space.empty()
                                ? binding.name
                                : fmt::format("{}/{}", binding.name, binding.name_space);
  const std::string who = subject.kind == "ServiceAccount"
                              ? fmt::format("{}/{}", subject.name, subject.name_space)
                              : subject.name;
  return fmt::format(R"(RBAC: allowed by {} "{}" of {} "{}" to {} "{}")", binding.kind, bound,
                     binding.role_kind, binding.role, subject.kind, who);
}

template <typename Visit>
void Roles::each_subject(const api::User& user, std::string_view name_space, Visit&& visit) const {
  const auto look = [&](std::string_view kind, std::string_view name) {
    const std::string who = subject_key(name_space, kind, name);
    if (const auto* const found = by_subject_.find(who)) visit(who, **found);
  };
  look("User", user.name);
  look("ServiceAccount", user.name);
  for (const std::string& group : user.groups) look("Group", group);
}

// Asks every binding.
void Roles::ask_each(const Bindings& theirs, const std::vector<const Role*>& roles,
                     const Attributes& asked, Reply& reply) {
  boost::unordered_flat_set<const Role*> judged;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    ++reply.work;
    if (roles[i] == nullptr) {
      reply.lost.push_back(&theirs[i]);
      continue;
    }
    // Paths are the cluster's: a binding in a namespace gives none.
    if (!asked.is_resource && !theirs[i].binding->name_space.empty()) continue;
    if (!judged.insert(roles[i]).second) continue;  // a role that is bound more than once
    reply.work += roles[i]->texts;
    if (std::ranges::any_of(roles[i]->rules,
                            [&](const PolicyRule& rule) { return covers(rule, asked); }))
      return reply.allow(theirs[i]);
  }
}

// Null if it would be too large to be kept.
std::shared_ptr<const Roles::Prepared> Roles::prepare(const std::string& who,
                                                      const Bindings& theirs,
                                                      std::size_t& work) const {
  const std::int64_t stamp = changed_at(theirs.front().binding->name_space);
  if (auto known = prepared_->find(who, stamp)) return known;
  std::vector<Prepared::Place> places;
  std::vector<std::uint32_t> lost;
  std::vector<const PolicyRule*> rules;
  std::size_t texts = 0;
  boost::unordered_flat_set<const Role*> seen;
  Missing missing;
  for (std::uint32_t i = 0; i < theirs.size(); ++i) {
    const Role* const role = role_of(theirs[i]);
    if (role == nullptr) {
      if (missing.add(theirs[i].binding->role_kind, theirs[i].binding->role)) lost.push_back(i);
    } else if (seen.insert(role).second) {
      texts += role->texts;
      for (std::uint32_t rule = 0; rule < role->rules.size(); ++rule) {
        places.push_back({.binding = i, .rule = rule});
        rules.push_back(&role->rules[rule]);
      }
    }
  }
  work += theirs.size() + texts;
  const std::size_t around = places.size() * sizeof(Prepared::Place) + who.size();
  if (!prepared_->fits(around + RuleIndex::bytes_for(rules.size(), texts))) return nullptr;
  const auto out = std::make_shared<const Prepared>(
      Prepared{.places = std::move(places), .lost = std::move(lost), .index = RuleIndex(rules)});
  prepared_->put(who, stamp, out, around + out->index.bytes());
  return out;
}

void Roles::ask(const std::string& who, const Bindings& theirs, const Attributes& asked,
                Reply& reply) const {
  if (theirs.size() <= kFewBindings) {
    const std::vector<const Role*> roles = roles_of(theirs);
    std::size_t texts = 0;
    for (const Role* role : roles) texts += role == nullptr ? 0 : role->texts;
    if (texts <= kFewTexts) return ask_each(theirs, roles, asked, reply);
  }
  const std::shared_ptr<const Prepared> prepared = prepare(who, theirs, reply.work);
  if (prepared == nullptr) return ask_each(theirs, roles_of(theirs), asked, reply);
  for (const std::uint32_t binding : prepared->lost) reply.lost.push_back(&theirs[binding]);
  reply.work += prepared->lost.size();
  if (!asked.is_resource && !theirs.front().binding->name_space.empty()) return;
  const auto covering = prepared->index.find_first(
      asked,
      [&](std::uint32_t rule) {
        const Prepared::Place place = prepared->places[rule];
        return covers(role_of(theirs[place.binding])->rules[place.rule], asked);
      },
      reply.work);
  if (covering) reply.allow(theirs[prepared->places[*covering].binding]);
}

AccessDecision Roles::judge(const api::User& user, const Attributes& asked) const {
  AccessDecision out;
  Missing missing;
  for (const std::string_view where : {std::string_view(), std::string_view(asked.name_space)}) {
    Reply reply;
    each_subject(user, where, [&](const std::string& who, const Bindings& theirs) {
      ask(who, theirs, asked, reply);
    });
    out.work += reply.work;
    if (reply.allowing != nullptr) {
      const Binding& binding = *reply.allowing->binding;
      out.allowed = true;
      out.reason = reason_of(binding, binding.subjects[reply.allowing->subject]);
      return out;
    }
    if (!std::ranges::is_sorted(reply.lost, {}, Reply::place))
      std::ranges::sort(reply.lost, {}, Reply::place);
    for (const Found* found : reply.lost)
      missing.add(found->binding->role_kind, found->binding->role);
    if (asked.name_space.empty()) break;
  }
  if (!missing.empty()) out.reason = fmt::format("RBAC: {}", missing.text());
  return out;
}

// Those that name the user or a group of theirs, in the order of their names.
std::vector<const Roles::Found*> Roles::bindings_of(const api::User& user,
                                                    std::string_view name_space) const {
  std::vector<const Found*> out;
  std::size_t lists = 0;
  each_subject(user, name_space, [&](const std::string&, const Bindings& theirs) {
    for (const Found& found : theirs) out.push_back(&found);
    ++lists;
  });
  if (lists < 2) return out;
  std::ranges::sort(out, {}, Reply::place);
  const auto same =
      std::ranges::unique(out, {}, [](const Found* found) { return found->binding.get(); });
  out.erase(same.begin(), same.end());
  return out;
}

Roles::Held Roles::held_by(const api::User& user, std::string_view name_space) const {
  Held out;
  Missing missing;
  boost::unordered_flat_set<const Role*> seen;
  for (const std::string_view where : {std::string_view(), name_space}) {
    for (const Found* found : bindings_of(user, where)) {
      const Role* const role = role_of(*found);
      if (role == nullptr)
        missing.add(found->binding->role_kind, found->binding->role);
      else if (seen.insert(role).second)
        for (const PolicyRule& rule : role->rules) out.rules.push_back(&rule);
    }
    if (name_space.empty()) break;
  }
  out.errors = missing.text();
  return out;
}

}  // namespace muster::server
