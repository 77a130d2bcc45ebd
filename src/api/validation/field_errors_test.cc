#include "api/validation/field_errors.h"

#include "api/validation/validation_testing.h"

namespace muster::api {
namespace {

TEST(FieldPath, IsWrittenAsUpstreamWritesIt) {
  const FieldPath spec("spec");
  const FieldPath containers = spec.child("containers");
  const FieldPath first = containers.index(0);
  const FieldPath limits = first.child("resources.limits");
  EXPECT_EQ(limits.key("cpu").text(), "spec.containers[0].resources.limits[cpu]");
  EXPECT_EQ(first.child("name").text(), "spec.containers[0].name");
}

TEST(FieldErrors, EveryTypeHasItsWords) {
  constexpr std::string_view kChoices[] = {"A", "B"};
  const FieldPath path("f");
  FieldErrors errors;
  errors.required(path);
  errors.required(path, "why");
  errors.invalid(path, "v\"\n\x01", "why");
  errors.invalid(path, std::int64_t{7}, "why");
  errors.invalid(path, Json(true), "why");
  errors.invalid(path, ShownValue::null(), "why");
  errors.invalid(path, document(R"({"a":[1,"x"]})"), "why");
  errors.not_supported(path, "C", kChoices);
  errors.not_found(path, "v");
  errors.duplicate(path, "v");
  errors.forbidden(path);
  errors.forbidden(path, "why");
  errors.too_long(path, 63);
  errors.too_many(path, 5, 4);
  errors.too_many(path, 2, 1);
  const std::vector<Cause> want = {
      {"FieldValueRequired", "f", "Required value"},
      {"FieldValueRequired", "f", "Required value: why"},
      {"FieldValueInvalid", "f", R"(Invalid value: "v\"\n\x01": why)"},
      {"FieldValueInvalid", "f", "Invalid value: 7: why"},
      {"FieldValueInvalid", "f", "Invalid value: true: why"},
      {"FieldValueInvalid", "f", "Invalid value: null: why"},
      {"FieldValueInvalid", "f", R"(Invalid value: {"a":[1,"x"]}: why)"},
      {"FieldValueNotSupported", "f", R"(Unsupported value: "C": supported values: "A", "B")"},
      {"FieldValueNotFound", "f", R"(Not found: "v")"},
      {"FieldValueDuplicate", "f", R"(Duplicate value: "v")"},
      {"FieldValueForbidden", "f", "Forbidden"},
      {"FieldValueForbidden", "f", "Forbidden: why"},
      {"FieldValueTooLong", "f", "Too long: may not be more than 63 bytes"},
      {"FieldValueTooMany", "f", "Too many: 5: must have at most 4 items"},
      {"FieldValueTooMany", "f", "Too many: 2: must have at most 1 item"},
  };
  EXPECT_EQ(errors.causes(), want);
}

TEST(FieldErrors, BecomeA422ThatNamesEveryField) {
  Kind pod;
  pod.kind = "Pod";
  FieldErrors one;
  one.required(FieldPath("spec.containers"));
  const Error error = invalid_object(pod, "x", one);
  EXPECT_EQ(error.message, "Pod \"x\" is invalid: spec.containers: Required value");
  EXPECT_EQ(error.reason, Reason::Invalid);
  EXPECT_EQ(error.kind, "Pod");
  EXPECT_EQ(error.name, "x");
  EXPECT_EQ(error.causes, one.causes());

  Kind group;
  group.group = "scheduling.k8s.io";
  group.kind = "PodGroup";
  FieldErrors two = one;
  two.forbidden(FieldPath("spec"), "no");
  two.forbidden(FieldPath("spec"), "no");
  EXPECT_EQ(invalid_object(group, "g", two).message,
            "PodGroup.scheduling.k8s.io \"g\" is invalid: [spec.containers: Required value, spec: "
            "Forbidden: no]");
  EXPECT_EQ(invalid_object(group, "g", two).causes.size(), 3U);
}

}  // namespace
}  // namespace muster::api
