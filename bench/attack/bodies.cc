#include "bodies.h"

#include <fmt/format.h>

#include <functional>

namespace muster::attack {
namespace {

std::string until(std::size_t bytes, const std::function<std::string(int)>& item) {
  std::string text;
  for (int i = 0; text.size() < bytes; ++i) text += (i == 0 ? "" : ",") + item(i);
  return text;
}
std::string times(int count, const std::function<std::string(int)>& item) {
  std::string text;
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + item(i);
  return text;
}
std::string of_containers(const std::string& list) {
  return R"({"spec":{"template":{"spec":{"containers":[)" + list + "]}}}}";
}

}  // namespace

std::string duplicate_keys(std::size_t bytes) {
  const std::string path(bytes / 2, 'p');
  return R"({"spec":{")" + path + R"(":{)" + until(bytes / 2, [](int) { return R"("k":1)"; }) +
         "}}}";
}

std::string deep_duplicate_keys(std::size_t bytes) {
  constexpr int kDepth = 500;
  const std::string step = R"({")" + std::string(bytes / 2 / kDepth, 'p') + R"(":)";
  std::string text;
  for (int i = 0; i < kDepth; ++i) text += step;
  text += "{" + until(bytes / 2, [](int) { return R"("k":1)"; }) + "}";
  return text + std::string(kDepth, '}');
}

std::string unknown_fields(std::size_t bytes) {
  return R"({"spec":{)" + until(bytes, [](int i) { return fmt::format(R"("x{}":1)", i); }) + "}}";
}

std::string aliased_text(std::size_t bytes) {
  return "a: &a " + std::string(bytes / 2, 'x') + "\nb: [" +
         until(bytes / 2, [](int) { return "*a"; }) + "]\n";
}

std::string aliased_lists() {
  std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i)
    text += fmt::format("a{}: &a{} [{}]\n", i, i,
                        times(10, [&](int) { return fmt::format("*a{}", i - 1); }));
  return text;
}

std::string moves(std::size_t bytes) {
  return "[" +
         until(bytes,
               [](int i) {
                 return i % 2 == 0 ? R"({"op":"move","from":"/data","path":"/d"})"
                                   : R"({"op":"move","from":"/d","path":"/data"})";
               }) +
         "]";
}

std::string copies(std::size_t bytes) {
  return "[" +
         until(bytes,
               [](int i) {
                 return fmt::format(R"({{"op":"copy","from":"/data/x","path":"/data/y{}"}})", i);
               }) +
         "]";
}

std::string wrong_scopes(std::size_t bytes) {
  return R"({"metadata":{"name":"q"},"spec":{"scopes":[)" +
         until(bytes, [](int i) { return fmt::format(R"("s{}")", i); }) + "]}}";
}

std::string wide_role(int number) {
  const auto list = [&](char kind) {
    return times(120, [&](int i) { return fmt::format(R"("{}{}")", kind, i); });
  };
  return fmt::format(
      R"({{"metadata":{{"name":"wide-{}"}},"rules":[{{"apiGroups":[{}],"resources":[{}],"verbs":[{}]}}]}})",
      number, list('g'), list('r'), list('v'));
}

std::string many_containers(int count) {
  return of_containers(times(
      count, [&](int i) { return fmt::format(R"({{"name":"c{}","image":"i"}})", count - i); }));
}

std::string many_deletions(int count) {
  return of_containers(times(count, [&](int i) {
    return fmt::format(R"({{"$patch":"delete","name":"c{}"}})", count - i);
  }));
}

std::string many_retained_keys(int count) {
  return R"({"spec":{"strategy":{"$retainKeys":[)" +
         times(count, [](int i) { return fmt::format(R"("k{}")", i); }) +
         R"(],"type":"Recreate"}}})";
}

std::string many_nulls(int count) {
  return R"({"metadata":{"annotations":{)" +
         times(count, [](int i) { return fmt::format(R"("k{}":null)", i); }) + "}}}";
}

std::string many_owners(std::string_view name, int count) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","ownerReferences":[{}]}}}})", name, times(count, [](int i) {
        return fmt::format(R"({{"apiVersion":"v1","kind":"Pod","name":"p{}","uid":"u{}"}})", i, i);
      }));
}

std::string many_managers(std::string_view name, int count) {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","managedFields":[{}]}},"data":{{"shared":"x",{}}}}})", name,
      times(count,
            [](int i) {
              return fmt::format(
                  R"({{"manager":"m{}","operation":"Apply","apiVersion":"v1","fieldsType":)"
                  R"("FieldsV1","fieldsV1":{{"f:data":{{"f:shared":{{}},"f:k{}":{{}}}}}}}})",
                  i, i);
            }),
      times(count, [](int i) { return fmt::format(R"("k{}":"x")", i); }));
}

std::string large_map(std::string_view name, std::size_t bytes) {
  return fmt::format(R"({{"metadata":{{"name":"{}"}},"data":{{"x":"{}"}}}})", name,
                     std::string(bytes, 'x'));
}

}  // namespace muster::attack
