#include "api/values/names.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

const std::string kLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must "
    "start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const std::string kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', "
    "and must start and end with an alphanumeric character (e.g. 'example.com', regex used for "
    "validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const std::string k1035 =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const std::string kName =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation "
    "is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const std::string kValue =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
    "and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
    "'12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

struct Case {
  std::string input;
  Messages want;
};

TEST(Names, DnsLabelsAreJudgedAsUpstreamDoes) {
  const Case cases[] = {
      {"a", {}},
      {"123-abc", {}},
      {std::string(63, 'a'), {}},
      {std::string(64, 'a'), {"must be no more than 63 characters"}},
      {"", {kLabel}},
      {"-b", {kLabel}},
      {"b-", {kLabel}},
      {"A", {kLabel}},
      {"a_b", {kLabel}},
      {"a.b", {"must not contain dots"}},
      {"a..b", {kLabel}},
      {"az09-a", {}},
      {"a`", {kLabel}},
      {"a{", {kLabel}},
      {"a/", {kLabel}},
      {"a:", {kLabel}},
      {"0", {}},
      {"9", {}},
      {"z", {}},
      {"ä", {kLabel}},
  };
  for (const Case& c : cases) EXPECT_EQ(check_dns_label(c.input), c.want) << c.input;
  EXPECT_EQ(check_dns_label(std::string(64, 'a'), LengthWord::Bytes),
            Messages{"must be no more than 63 bytes"});
}

TEST(Names, DnsSubdomainsAreJudgedAsUpstreamDoes) {
  const Case cases[] = {
      {"a.b-c.d", {}},
      {std::string(253, 'a'), {}},
      {std::string(254, 'a'), {"must be no more than 253 characters"}},
      {"", {kSubdomain}},
      {"a..b", {kSubdomain}},
      {".a", {kSubdomain}},
      {"a.", {kSubdomain}},
      {"Foo", {kSubdomain}},
  };
  for (const Case& c : cases) EXPECT_EQ(check_dns_subdomain(c.input), c.want) << c.input;
}

TEST(Names, ServiceNamesStartWithALetter) {
  EXPECT_EQ(check_dns_1035_label("a1"), Messages{});
  EXPECT_EQ(check_dns_1035_label("1a"), Messages{k1035});
  EXPECT_EQ(check_dns_1035_label(""), Messages{k1035});
  EXPECT_EQ(check_dns_1035_label("a-"), Messages{k1035});
  EXPECT_EQ(check_dns_1035_label("A"), Messages{k1035});
  EXPECT_EQ(check_dns_1035_label(std::string(63, 'a')), Messages{});
  EXPECT_EQ(check_dns_1035_label(std::string(64, 'a')),
            Messages{"must be no more than 63 characters"});
}

TEST(Names, QualifiedNamesHaveAtMostOnePrefix) {
  const Case cases[] = {
      {"name", {}},
      {"example.com/My_Name.1", {}},
      {"", {"name part must be non-empty", "name part " + kName}},
      {"example.com/", {"name part must be non-empty", "name part " + kName}},
      {"AZaz09/x", {"prefix part " + kSubdomain}},
      {"az09/AZaz09", {}},
      {std::string(253, 'a') + "/" + std::string(63, 'a'), {}},
      {"a@", {"name part " + kName}},
      {"a[", {"name part " + kName}},
      {"[a", {"name part " + kName}},
      {"a_", {"name part " + kName}},
      {"a.", {"name part " + kName}},
      {"a b", {"name part " + kName}},
      {"/", {"prefix part must be non-empty", "name part must be non-empty", "name part " + kName}},
      {"/name", {"prefix part must be non-empty"}},
      {"Example/name", {"prefix part " + kSubdomain}},
      {std::string(254, 'a') + "/n", {"prefix part must be no more than 253 bytes"}},
      {std::string(64, 'a'), {"name part must be no more than 63 bytes"}},
      {"-x", {"name part " + kName}},
      {"a/b/c",
       {"a qualified name " + kName +
        " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}},
  };
  for (const Case& c : cases) EXPECT_EQ(check_qualified_name(c.input), c.want) << c.input;
}

TEST(Names, LabelValuesMayBeEmpty) {
  EXPECT_EQ(check_label_value(""), Messages{});
  EXPECT_EQ(check_label_value("My_value.1"), Messages{});
  EXPECT_EQ(check_label_value("-b"), Messages{kValue});
  EXPECT_EQ(check_label_value(std::string(64, 'a')), Messages{"must be no more than 63 bytes"});
  EXPECT_EQ(check_label_value(std::string(63, 'a')), Messages{});
  EXPECT_EQ(check_label_value("a b"), Messages{kValue});
  EXPECT_EQ(check_label_value("a/b"), Messages{kValue});
}

TEST(Names, PathSegmentsStayInTheirPlace) {
  EXPECT_EQ(check_path_segment("system:node"), Messages{});
  EXPECT_EQ(check_path_segment("."), Messages{"may not be '.'"});
  EXPECT_EQ(check_path_segment(".."), Messages{"may not be '..'"});
  EXPECT_EQ(check_path_segment("a/b%"), (Messages{"may not contain '/'", "may not contain '%'"}));
}

TEST(Names, PortNamesAreShortAndHaveALetter) {
  EXPECT_EQ(check_port_name("http-2"), Messages{});
  EXPECT_EQ(check_port_name("0123456789abcdef"), Messages{"must be no more than 15 characters"});
  EXPECT_EQ(check_port_name("0123456789abcde"), Messages{});
  EXPECT_EQ(check_port_name("a-"), Messages{"must not begin or end with a hyphen"});
  EXPECT_EQ(check_port_name(""),
            (Messages{"must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
                      "must contain at least one letter (a-z)"}));
  EXPECT_EQ(check_port_name("80"), Messages{"must contain at least one letter (a-z)"});
  EXPECT_EQ(check_port_name("a--b"), Messages{"must not contain consecutive hyphens"});
  EXPECT_EQ(check_port_name("-a"), Messages{"must not begin or end with a hyphen"});
  EXPECT_EQ(check_port_name("Http"),
            Messages{"must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"});
}

TEST(Names, EnvironmentNamesArePrintable) {
  EXPECT_EQ(check_environment_name("MY_VAR.x-1"), Messages{});
  EXPECT_EQ(check_environment_name(" ~"), Messages{});
  EXPECT_EQ(check_environment_name(""), Messages{"environment variable name must be non-empty"});
  for (const char* name : {"A\tB", "A\x1f", "A\x7f", "\u00e4"})
    EXPECT_EQ(check_environment_name(name),
              Messages{"a valid environment variable name must consist only of printable ASCII "
                       "characters other than '='"})
        << name;
  EXPECT_EQ(check_environment_name("A=B"),
            Messages{"a valid environment variable name must consist only of printable ASCII "
                     "characters other than '='"});
}

TEST(Names, ConfigKeysAreFileNames) {
  EXPECT_EQ(check_config_key("key.name"), Messages{});
  EXPECT_EQ(check_config_key(".."), Messages{"must not be '..'"});
  EXPECT_EQ(check_config_key("."), Messages{"must not be '.'"});
  EXPECT_EQ(check_config_key("..a"), Messages{"must not start with '..'"});
  EXPECT_EQ(check_config_key(".a"), Messages{});
  EXPECT_EQ(check_config_key("-_A"), Messages{});
  EXPECT_EQ(check_config_key(""), check_config_key("a/b"));
  EXPECT_EQ(check_config_key(std::string(253, 'a')), Messages{});
  EXPECT_EQ(check_config_key(std::string(254, 'a')),
            Messages{"must be no more than 253 characters"});
  EXPECT_EQ(
      check_config_key("a/b"),
      Messages{"a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
               "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
               "'[-._a-zA-Z0-9]+')"});
}

TEST(Names, APrefixMayEndWithADash) {
  EXPECT_EQ(as_generated("job-"), "joa");
  EXPECT_EQ(as_generated("job"), "job");
  EXPECT_EQ(as_generated("-"), "-");
  EXPECT_EQ(as_generated("a-"), "a");
  EXPECT_EQ(as_generated(""), "");
}

TEST(Names, RangesAreSpelledOut) {
  EXPECT_EQ(inclusive_range(1, 65535), "must be between 1 and 65535, inclusive");
}

}  // namespace
}  // namespace muster::api
