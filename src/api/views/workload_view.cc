#include "api/views/workload_view.h"

#include <algorithm>

#include "api/reading.h"

namespace muster::api {
namespace {

using Template = WorkloadView::Template;

std::int32_t minimum_of(const Json& gang, std::string_view member) {
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(find_integer(gang, member).value_or(1), INT32_MIN, INT32_MAX));
}

// The server allows four levels; a document from elsewhere is not followed further.
constexpr std::size_t kDepthMax = 8;

void read_templates(const Json& holder, std::size_t depth, std::vector<Template>& out) {
  if (depth >= kDepthMax) return;
  for (const Json& entry : elements(holder, "compositePodGroupTemplates")) {
    const Json* gang = find_set(part_of(entry, "schedulingPolicy"), "gang");
    out.push_back({.name = std::string(find_string(entry, "name")),
                   .composite = true,
                   .gang = gang != nullptr,
                   .minimum = gang == nullptr ? 1 : minimum_of(*gang, "minGroupCount"),
                   .depth = depth});
    read_templates(entry, depth + 1, out);
  }
  for (const Json& entry : elements(holder, "podGroupTemplates")) {
    const Json* gang = find_set(part_of(entry, "schedulingPolicy"), "gang");
    out.push_back({.name = std::string(find_string(entry, "name")),
                   .composite = false,
                   .gang = gang != nullptr,
                   .minimum = gang == nullptr ? 1 : minimum_of(*gang, "minCount"),
                   .depth = depth});
  }
}

}  // namespace

std::unique_ptr<WorkloadView> WorkloadView::read(const Object& workload) {
  auto view = std::make_unique<WorkloadView>();
  const Json document = workload.document();
  const Json& spec = part_of(document, "spec");
  const Json& owner = part_of(spec, "controllerRef");
  view->owner_group = find_string(owner, "apiGroup");
  view->owner_kind = find_string(owner, "kind");
  view->owner_name = find_string(owner, "name");
  read_templates(spec, 0, view->templates);
  return view;
}

const Template* WorkloadView::find(std::string_view name) const {
  const auto at = std::ranges::find(templates, name, &Template::name);
  return at == templates.end() ? nullptr : &*at;
}

const Template* WorkloadView::first_leaf() const {
  const auto at = std::ranges::find(templates, false, &Template::composite);
  return at == templates.end() ? nullptr : &*at;
}

}  // namespace muster::api
