#include <fmt/format.h>

#include <string>

#include "api/tables/printer.h"
#include "api/values/human_duration.h"

namespace muster::api::tables {
namespace {

constexpr Column kJobColumns[] = {
    kName,
    {.name = "Status", .description = "How far the job has come."},
    {.name = "Completions", .description = "Pods that succeeded, of those wanted."},
    {.name = "Duration", .description = "How long it has run, or ran."},
    kAge,
    {.name = "Containers", .description = "Names of its containers.", .priority = 1},
    {.name = "Images", .description = "Images of its containers.", .priority = 1},
    {.name = "Selector", .description = "Labels of its pods.", .priority = 1},
};

std::string_view job_status(const Object& object, const Json& status) {
  for (const std::string_view type : {"Complete", "Failed"})
    if (condition_is_true(status, type)) return type;
  if (object.meta().deletion_time) return "Terminating";
  for (const std::string_view type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"})
    if (condition_is_true(status, type)) return type;
  return "Running";
}

std::string completions_text(const Json& spec, const Json& status) {
  const std::int64_t succeeded = integer(status, "succeeded");
  if (is_set(spec, "completions"))
    return fmt::format("{}/{}", succeeded, integer(spec, "completions"));
  const std::int64_t parallelism = integer(spec, "parallelism");
  if (parallelism > 1) return fmt::format("{}/1 of {}", succeeded, parallelism);
  return fmt::format("{}/1", succeeded);
}

std::string duration_text(const Json& status, Time now) {
  const std::optional<Time> start = time(status, "startTime");
  if (!start) return "";
  return human_duration(time(status, "completionTime").value_or(now) - *start);
}

void print_job(const Object& object, const Json& document, Cells& cells) {
  const Json& spec = part(document, "spec");
  const Json& status = part(document, "status");
  const JsonArray& containers = list(part(part(spec, "template"), "spec"), "containers");
  cells.text(object.meta().name);
  cells.text(job_status(object, status));
  cells.text(completions_text(spec, status));
  cells.text(duration_text(status, cells.now()));
  cells.age(object.meta().creation_time);
  cells.text(joined(containers, "name"));
  cells.text(joined(containers, "image"));
  cells.text(selector_text(find(spec, "selector")));
}

}  // namespace

std::span<const Printer> batch_printers() {
  static constexpr Printer kPrinters[] = {{"batch", "Job", kJobColumns, print_job}};
  return kPrinters;
}

}  // namespace muster::api::tables
