#include "api/values/field_selector.h"
#include "api/values/label_selector.h"
#include "api/values/names.h"
#include "api/values/quantity.h"
#include "fuzzing.h"

// Selectors and quantities that parse print a text that parses to the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace muster;
  const std::string_view text = fuzz::text(data, size);
  if (const auto selector = api::LabelSelector::parse(text)) {
    const auto again = api::LabelSelector::parse(selector->text());
    fuzz::require(again.has_value());
    fuzz::require(again->text() == selector->text());
  }
  (void)api::FieldSelector::parse(text);
  if (const auto quantity = api::Quantity::parse(text)) {
    const auto again = api::Quantity::parse(quantity->text());
    fuzz::require(again.has_value());
    fuzz::require(again->text() == quantity->text());
  }
  return 0;
}
