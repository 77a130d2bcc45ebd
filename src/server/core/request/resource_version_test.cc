#include "server/core/request/resource_version.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::server {
namespace {

TEST(ResourceVersion, IsADecimalNumberOrNothing) {
  EXPECT_EQ(parse_resource_version("").value().value, 0);
  EXPECT_EQ(parse_resource_version("0").value().value, 0);
  EXPECT_EQ(parse_resource_version("42").value().value, 42);
  EXPECT_EQ(to_resource_version({42}), "42");
  for (const std::string_view text : {"-1", "x", "1x", "1.5", " 1", "99999999999999999999"}) {
    const auto parsed = parse_resource_version(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().reason, Reason::BadRequest);
    EXPECT_EQ(parsed.error().message,
              "invalid resource version: resourceVersion: Invalid value: \"" + std::string(text) +
                  "\": strconv.ParseUint: parsing \"" + std::string(text) + "\": invalid syntax");
  }
}

struct Asked {
  std::string continue_token = {};
  std::string version = {};
  std::string match = {};
  std::optional<bool> initial_events = {};

  api::ListOptions options() const {
    api::ListOptions out;
    out.continue_token = continue_token;
    out.resource_version = version;
    out.resource_version_match = match;
    out.send_initial_events = initial_events;
    return out;
  }
};

// The causes of a refusal, a line each; "" if there is none.
std::string refusal(const Result<void>& checked) {
  if (checked) return "";
  EXPECT_EQ(checked.error().reason, Reason::Invalid);
  EXPECT_TRUE(checked.error().message.starts_with(R"(ListOptions.meta.k8s.io "" is invalid: )"));
  std::string out;
  for (const Cause& cause : checked.error().causes)
    out += cause.type.substr(std::string_view("FieldValue").size()) + " " + cause.field + ": " +
           cause.message + "\n";
  return out;
}

constexpr std::string_view kUnknownMatch =
    R"(NotSupported resourceVersionMatch: Unsupported value: "Older": supported values: "Exact", )"
    R"("NotOlderThan", "")"
    "\n";

TEST(ListOptions, NameTheirRevisionInOneWay) {
  struct Case {
    Asked asked;
    std::string want;
  };
  const std::vector<Case> cases = {
      {{}, ""},
      {{.continue_token = "c", .version = "5"}, ""},
      {{.version = "5", .match = "Exact"}, ""},
      {{.version = "5", .match = "NotOlderThan"}, ""},
      {{.version = "0", .match = "NotOlderThan"}, ""},
      {{.version = "0", .match = "Exact"},
       "Forbidden resourceVersionMatch: Forbidden: resourceVersionMatch \"exact\" is forbidden for "
       "resourceVersion \"0\"\n"},
      {{.match = "Exact"},
       "Forbidden resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless "
       "resourceVersion is provided\n"},
      {{.continue_token = "c", .version = "5", .match = "Exact"},
       "Forbidden resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue "
       "is provided\n"},
      {{.version = "5", .match = "Older"}, std::string(kUnknownMatch)},
      {{.initial_events = true},
       "Forbidden sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list\n"},
      {{.initial_events = false},
       "Forbidden sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list\n"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(refusal(check_list_options(one.asked.options())), one.want);
}

TEST(ListOptions, OfAWatchMatchOnlyWithInitialEvents) {
  struct Case {
    Asked asked;
    std::string want;
  };
  constexpr std::string_view kNeedsMatch =
      "Forbidden resourceVersionMatch: Forbidden: sendInitialEvents requires setting "
      "resourceVersionMatch to NotOlderThan\n";
  const std::vector<Case> cases = {
      {{}, ""},
      {{.version = "5"}, ""},
      {{.match = "NotOlderThan", .initial_events = true}, ""},
      {{.match = "NotOlderThan", .initial_events = false}, ""},
      {{.initial_events = true}, std::string(kNeedsMatch)},
      {{.match = "Exact", .initial_events = true}, std::string(kNeedsMatch)},
      {{.version = "5", .match = "NotOlderThan"},
       "Forbidden resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch "
       "unless sendInitialEvents is provided\n"},
      {{.continue_token = "c"}, "Forbidden continue: Forbidden: continue is forbidden for watch\n"},
  };
  for (const Case& one : cases)
    EXPECT_EQ(refusal(check_watch_options(one.asked.options())), one.want);
}

}  // namespace
}  // namespace muster::server
