#include "api/kinds/kinds_of_groups.h"

namespace muster::api::kinds {
namespace {

constexpr GroupVersion kBatchV1{.group = "batch", .version = "v1", .package = "batch/v1"};

Kind cron_job() {
  Kind kind = plain_kind(kBatchV1, "CronJob", "cronjobs");
  kind.short_names = {"cj"};
  kind.categories = {"all"};
  kind.subresources = {status_part(kind)};
  kind.keeps_generation = true;
  return kind;
}

Kind job() {
  Kind kind = plain_kind(kBatchV1, "Job", "jobs");
  kind.categories = {"all"};
  kind.subresources = {status_part(kind)};
  kind.keeps_generation = true;
  kind.selectable_fields = {"status.successful"};
  return kind;
}

}  // namespace

std::vector<Kind> batch_kinds() { return {cron_job(), job()}; }

}  // namespace muster::api::kinds
