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

TEST(FieldErrors, TextsAreQuotedAsGoQuotesThem) {
  const auto quoted = [](std::string_view text) {
    FieldErrors errors;
    errors.duplicate(FieldPath("f"), text);
    return errors.causes()[0].message.substr(std::string_view("Duplicate value: ").size());
  };
  EXPECT_EQ(quoted("a\a\b\f\n\r\t\v\\\""), R"("a\a\b\f\n\r\t\v\\\"")");
  EXPECT_EQ(quoted("\x1f \x7f~\u00e4"), "\"\\x1f \\x7f~\u00e4\"");
}

TEST(FieldErrors, MessagesAreForEachNothingForNone) {
  FieldErrors errors;
  errors.invalid_each(FieldPath("f"), "v", {});
  EXPECT_TRUE(errors.empty());
  errors.invalid_each(FieldPath("f"), "v", {"a", "b"});
  EXPECT_EQ(sentences(errors),
            (Sentences{"f: Invalid value: \"v\": a", "f: Invalid value: \"v\": b"}));
  errors.not_found(FieldPath("f"), "v", "why");
  errors.duplicate(FieldPath("f"), "v", "why");
  errors.invalid(FieldPath("f"), "why");
  EXPECT_EQ(errors.causes()[2].message, "Not found: \"v\": why");
  EXPECT_EQ(errors.causes()[3].message, "Duplicate value: \"v\": why");
  EXPECT_EQ(errors.causes()[4].message, "Invalid value: why");
}

TEST(FieldErrors, PathsAreCutToo) {
  const std::string name(5'000, 'n');
  const FieldPath path(name);
  const FieldPath below = path.child("below");
  FieldErrors errors;
  errors.required(below);
  EXPECT_TRUE(errors.causes()[0].field.starts_with("nnn"));
  EXPECT_LE(errors.causes()[0].field.size(), kLimits.path_bytes + 20);
  EXPECT_EQ(errors.causes()[0].field.find("below"), std::string::npos);
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

// S-C5: each error quoted the whole list; 53 kB made an answer of 354 MB.
TEST(FieldErrors, CutsLongValues) {
  FieldErrors errors;
  const JsonArray list(100'000, "long");
  errors.invalid(FieldPath("spec.scopes"), Json(list), "unsupported scope");
  errors.invalid(FieldPath("spec.name"), std::string(100'000, 'x'), "too long");
  const std::vector<Cause> causes = errors.causes();
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_TRUE(causes[0].message.starts_with(R"(Invalid value: ["long","long")"));
  EXPECT_TRUE(causes[0].message.ends_with("...: unsupported scope"));
  EXPECT_TRUE(causes[1].message.ends_with("... (100000 bytes): too long"));
  for (const Cause& cause : causes) EXPECT_LE(cause.message.size(), kLimits.text_bytes + 100);
}

TEST(FieldErrors, CountsThoseThatAreTooMany) {
  FieldErrors errors;
  const FieldPath path("spec.list");
  for (std::size_t i = 0; i < kLimits.causes + 20; ++i) errors.required(path.index(i));
  EXPECT_EQ(errors.size(), kLimits.causes + 20);
  const std::vector<Cause> causes = errors.causes();
  ASSERT_EQ(causes.size(), kLimits.causes + 1);
  EXPECT_EQ(causes.back().message, "and 20 more errors");
  EXPECT_TRUE(errors.text().ends_with(", and 20 more errors]"));
}

TEST(FieldErrors, BoundsTheirBytes) {
  FieldErrors errors;
  const std::string value(10'000, 'x');
  for (int i = 0; i < 400; ++i) errors.invalid(FieldPath("a"), value, "no");
  std::size_t bytes = 0;
  for (const Cause& cause : errors.causes()) bytes += cause.message.size();
  EXPECT_LE(bytes, kLimits.cause_bytes + kLimits.text_bytes);
  EXPECT_EQ(errors.size(), 400U);
}

TEST(FieldErrors, RepeatsTheLast) {
  FieldErrors errors;
  errors.required(FieldPath("a"));
  errors.repeat_last(2);
  EXPECT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors.causes()[2].field, "a");
  errors.repeat_last(1'000'000'000'000);
  EXPECT_EQ(errors.size(), 1'000'000'000'003U);
  EXPECT_EQ(errors.causes().back().message,
            fmt::format("and {} more errors", 1'000'000'000'003U - kLimits.causes));
}

TEST(FieldErrors, AppendsWhatWasLeftOut) {
  FieldErrors many;
  for (std::size_t i = 0; i < kLimits.causes + 5; ++i) many.required(FieldPath("a"));
  FieldErrors errors;
  errors.required(FieldPath("b"));
  errors.append(std::move(many));
  EXPECT_EQ(errors.size(), kLimits.causes + 6);
  EXPECT_EQ(errors.causes().back().message, "and 6 more errors");
}

}  // namespace
}  // namespace muster::api
