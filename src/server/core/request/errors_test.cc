#include "server/core/request/errors.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace muster::server {
namespace {

const api::Kind& pods() { return api::kinds::pod(); }
const api::Kind& groups() { return api::kinds::pod_group(); }

Cause wrong(std::string field, std::string message) {
  return {.type = "FieldValueInvalid", .field = std::move(field), .message = std::move(message)};
}

TEST(Errors, NameTheResourceWithItsGroupAndTheObject) {
  struct Case {
    Error error;
    Reason reason;
    std::string message;
  };
  const std::vector<Case> cases = {
      {not_found(groups(), "x"), Reason::NotFound, R"(podgroups.scheduling.k8s.io "x" not found)"},
      {already_exists(groups(), "x"), Reason::AlreadyExists,
       R"(podgroups.scheduling.k8s.io "x" already exists)"},
      {conflict(groups(), "x", "why"), Reason::Conflict,
       R"(Operation cannot be fulfilled on podgroups.scheduling.k8s.io "x": why)"},
      {modified_meanwhile(groups(), "x"), Reason::Conflict,
       R"(Operation cannot be fulfilled on podgroups.scheduling.k8s.io "x": the object has been )"
       R"(modified; please apply your changes to the latest version and try again)"},
      {forbidden(groups(), "x", "why"), Reason::Forbidden,
       R"(podgroups.scheduling.k8s.io "x" is forbidden: why)"},
  };
  for (const Case& want : cases) {
    EXPECT_EQ(want.error.message, want.message);
    EXPECT_EQ(want.error.reason, want.reason) << want.message;
    EXPECT_EQ(want.error.name, "x") << want.message;
    EXPECT_EQ(want.error.group, "scheduling.k8s.io") << want.message;
    EXPECT_EQ(want.error.kind, "podgroups") << want.message;
  }
  EXPECT_EQ(not_found(pods(), "x").message, R"(pods "x" not found)");
  EXPECT_EQ(forbidden(groups(), "", "why").message,
            "podgroups.scheduling.k8s.io is forbidden: why");
}

TEST(Errors, InvalidListsEachCauseOnce) {
  EXPECT_EQ(invalid(pods(), "x", {wrong("spec.a", "bad")}).message,
            R"(Pod "x" is invalid: spec.a: bad)");
  EXPECT_EQ(invalid(pods(), "x", {wrong("", "bad")}).message, R"(Pod "x" is invalid: bad)");
  EXPECT_EQ(invalid(pods(), "x", {wrong("a", "bad"), wrong("b", "bad"), wrong("a", "bad")}).message,
            R"(Pod "x" is invalid: [a: bad, b: bad])");
  EXPECT_EQ(invalid(pods(), "x", {wrong("a", "bad"), wrong("a", "bad")}).message,
            R"(Pod "x" is invalid: a: bad)");
  EXPECT_EQ(invalid(pods(), "x", {}).message, R"(Pod "x" is invalid: [])");
}

TEST(Errors, InvalidNamesTheKindNotTheResource) {
  const Error error = invalid(groups(), "x", {wrong("a", "bad"), wrong("b", "worse")});
  EXPECT_EQ(error.message, R"(PodGroup.scheduling.k8s.io "x" is invalid: [a: bad, b: worse])");
  EXPECT_EQ(error.reason, Reason::Invalid);
  EXPECT_EQ(error.name, "x");
  EXPECT_EQ(error.group, "scheduling.k8s.io");
  EXPECT_EQ(error.kind, "PodGroup");
  EXPECT_EQ(error.causes, (std::vector{wrong("a", "bad"), wrong("b", "worse")}));

  const Error options =
      invalid({.group = "meta.k8s.io", .kind = "DeleteOptions"}, {wrong("a", "bad")});
  EXPECT_EQ(options.message, R"(DeleteOptions.meta.k8s.io "" is invalid: a: bad)");
  EXPECT_EQ(options.kind, "DeleteOptions");
}

TEST(Errors, WhoIsAheadOfUsComesBackInASecond) {
  const Error error = too_large_resource_version(12, 7);
  EXPECT_EQ(error.reason, Reason::Timeout);
  EXPECT_EQ(error.message, "Timeout: Too large resource version: 12, current: 7");
  EXPECT_EQ(error.causes, (std::vector<Cause>{{.type = "ResourceVersionTooLarge",
                                               .field = "",
                                               .message = "Too large resource version"}}));
  EXPECT_EQ(error.retry_after_s, 1);
}

TEST(Errors, WithoutAnObject) {
  EXPECT_EQ(method_not_allowed().reason, Reason::MethodNotAllowed);
  EXPECT_EQ(method_not_allowed().message,
            "the server does not allow this method on the requested resource");
  const Error error = internal_error("the disk is full");
  EXPECT_EQ(error.reason, Reason::InternalError);
  EXPECT_EQ(error.message, "Internal error occurred: the disk is full");
  EXPECT_EQ(error.causes,
            (std::vector<Cause>{{.type = "", .field = "", .message = "the disk is full"}}));
}

}  // namespace
}  // namespace muster::server
