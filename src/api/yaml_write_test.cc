#include "api/yaml_write.h"

#include <gtest/gtest.h>

#include "api/yaml.h"

namespace muster::api {
namespace {

Json parsed(std::string_view text) {
  Result<ParsedJson> value = parse_yaml(text);
  EXPECT_TRUE(value) << text << ": " << (value ? "" : value.error().message);
  return value ? std::move(value->value) : Json();
}

TEST(YamlText, IsReadBackAsTheSameValue) {
  for (const char* text :
       {R"({"a":{"b":[1,2,{"c":[]}],"d":{}},"e":[[1,[2]],[{"f":1,"g":2}]]})",
        R"(["y","No","null","~","1e3","0644","1:30","2001-01-01","","-","a: b","#c","x\ny"])",
        R"({"true":true,"null":null,"1":1,"a b":"c d","scheduling.k8s.io/x":"v1"})",
        R"({"deep":{"er":{"still":[{"one":1},{"two":[2]}]}}})", R"("just text")", "3", "{}", "[]",
        "1.5", "null"})
    EXPECT_EQ(parsed(to_yaml(parsed(text))), parsed(text)) << text << "\n" << to_yaml(parsed(text));
}

TEST(YamlText, LooksAsPeopleWriteIt) {
  EXPECT_EQ(
      to_yaml(parsed(R"({"kind":"Job","spec":{"topology":[{"key":"rack","nodes":4},{"key":"y"}],)"
                     R"("basic":{}}})")),
      "kind: Job\n"
      "spec:\n"
      "  topology:\n"
      "  - key: rack\n"
      "    nodes: 4\n"
      "  - key: \"y\"\n"
      "  basic: {}\n");
}

}  // namespace
}  // namespace muster::api
