#include <algorithm>

#include "api/values/cron_schedule.h"
#include "api/values/field_selector.h"
#include "api/values/label_selector.h"
#include "api/values/names.h"
#include "api/values/quantity.h"
#include "base/time.h"
#include "fuzzing.h"

namespace {

using namespace muster;

void require_label_selector(std::string_view text) {
  const auto selector = api::LabelSelector::parse(text);
  if (!selector) return;
  const auto again = api::LabelSelector::parse(selector->text());
  fuzz::require(again.has_value() && again->text() == selector->text());
}

// The terms stand in the order they were written in, where "==" is not "=".
void require_field_selector(std::string_view text) {
  const auto selector = api::FieldSelector::parse(text);
  if (!selector) return;
  const auto again = api::FieldSelector::parse(selector->text());
  fuzz::require(again.has_value() &&
                std::ranges::is_permutation(again->terms(), selector->terms()));
}

void require_quantity(std::string_view text) {
  const auto quantity = api::Quantity::parse(text);
  if (!quantity) return;
  const auto again = api::Quantity::parse(quantity->text());
  fuzz::require(again.has_value());
  fuzz::require(*again == *quantity && again->text() == quantity->text());
  fuzz::require((*quantity - *quantity).is_zero());
  (void)(*quantity + *quantity).text();
  (void)quantity->value();
  (void)quantity->milli_value();
}

void require_time(std::string_view text) {
  const auto time = parse_time(text);
  if (!time) return;
  fuzz::require(parse_time(format_micro_time(*time)) == *time);
  fuzz::require(parse_time(format_time(*time)).has_value());
}

}  // namespace

// Small texts with a grammar of their own: selectors, quantities and times that parse print a text
// that parses to the same; schedules have a bit in every field, or a period.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const muster::fuzz::Costs costs(size, {.steps_per_byte = 4'000, .bytes_per_byte = 4'000});
  const std::string_view text = fuzz::text(data, size);
  require_label_selector(text);
  require_field_selector(text);
  require_quantity(text);
  require_time(text);
  if (const auto schedule = api::CronSchedule::parse(text)) {
    fuzz::require(schedule->every() > Duration::zero() ||
                  (schedule->minutes() >> 60U == 0 && schedule->hours() >> 24U == 0));
  }
  (void)api::check_qualified_name(text);
  (void)api::check_dns_subdomain(text);
  return 0;
}
