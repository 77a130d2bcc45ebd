#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "api/tables/printer.h"

// Who may do what, and how much of it.
namespace muster::api::tables {
namespace {

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

constexpr Column kBindingColumns[] = {
    kName,
    {.name = "Role", .description = "The role that is given."},
    kAge,
    {.name = "Users", .description = "Users it is given to.", .priority = 1},
    {.name = "Groups", .description = "Groups it is given to.", .priority = 1},
    {.name = "ServiceAccounts", .description = "Accounts it is given to.", .priority = 1}};
constexpr Column kQuotaColumns[] = {
    kName,
    {.name = "Request", .description = "Requests used, of those allowed."},
    {.name = "Limit", .description = "Limits used, of those allowed."},
    kAge};

std::string subjects_text(const Json& binding, std::string_view kind) {
  std::vector<std::string> names;
  for (const Json& subject : list(binding, "subjects")) {
    if (find_string(subject, "kind") != kind) continue;
    const std::string_view name = find_string(subject, "name");
    names.push_back(kind == "ServiceAccount"
                        ? fmt::format("{}/{}", find_string(subject, "namespace"), name)
                        : std::string(name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

void print_binding(const Object& object, const Json& document, Cells& cells) {
  const Json& role = part(document, "roleRef");
  cells.text(object.meta().name);
  cells.text(fmt::format("{}/{}", find_string(role, "kind"), find_string(role, "name")));
  cells.age(object.meta().creation_time);
  for (const std::string_view kind : {"User", "Group", "ServiceAccount"})
    cells.text(subjects_text(document, kind));
}

void print_quota(const Object& object, const Json& document, Cells& cells) {
  const Json& status = part(document, "status");
  std::vector<std::string> requests;
  std::vector<std::string> limits;
  if (const JsonObject* hard = find_object(status, "hard"))
    for (const auto& entry : *hard) {
      const std::string_view name(entry.key().data(), entry.key().size());
      const std::string_view used = find_string(part(status, "used"), name);
      auto& side = name.starts_with("limits.") ? limits : requests;
      side.push_back(fmt::format("{}: {}/{}", name, used.empty() ? "0" : used,
                                 find_string(part(status, "hard"), name)));
    }
  cells.text(object.meta().name);
  cells.text(fmt::format("{}", fmt::join(requests, ", ")));
  cells.text(fmt::format("{}", fmt::join(limits, ", ")));
  cells.age(object.meta().creation_time);
}

}  // namespace

std::span<const Printer> access_printers() {
  static constexpr Printer kPrinters[] = {
      {kRbac, "RoleBinding", kBindingColumns, print_binding},
      {kRbac, "ClusterRoleBinding", kBindingColumns, print_binding},
      {"", "ResourceQuota", kQuotaColumns, print_quota},
  };
  return kPrinters;
}

}  // namespace muster::api::tables
