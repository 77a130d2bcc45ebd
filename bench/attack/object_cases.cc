// Objects that are small by their bytes and large by what is counted, indexed or compared for each
// of their values: labels, annotations, finalizers, ports.
#include <fmt/format.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "asks.h"
#include "cases.h"

namespace muster::attack {
namespace {

const std::string kPods = kCore + "pods";
const std::string kJson = "application/json";
// With the other values of a pod somewhat less than an object may have.
constexpr int kLabels = 19'700;

// "aaaa", "aaab", …: as many names as an object may have values, in few bytes.
std::string short_name(int i) {
  std::string out(4, 'a');
  for (std::size_t at = out.size(); at-- > 0; i /= 26) out[at] = static_cast<char>('a' + i % 26);
  return out;
}

// "aaaa":"x", …
std::string many_pairs(int count, std::string_view value) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += fmt::format(R"({}"{}":"{}")", i == 0 ? "" : ",", short_name(i), value);
  return out;
}

Wire::Ask put(const std::string& target, const std::string& body) {
  return {.method = "PUT", .target = target, .headers = of_type(kJson), .body = body};
}

// --- Labels, of pods that wait and belong to nobody.

// Before and behind the labels of a pod that was made just now, as it is to be written back.
struct LabelledPod {
  std::string target, head, tail;
  std::string body(std::string_view labels) const {
    return fmt::format("{}{}{}", head, labels, tail);
  }
};

std::optional<LabelledPod> make_pod(Wire& wire, const std::string& name, Run& run) {
  const std::string mark = R"("here":"")";
  const auto reply = wire.ask(
      {.method = "POST",
       .target = kPods,
       .headers = of_type(kJson),
       .body = fmt::format(
           R"({{"metadata":{{"name":"{}","labels":{{{}}}}},"spec":{{"schedulingGates":[{{"name":"a/b"}}],)"
           R"("automountServiceAccountToken":false,"containers":[{{"name":"c","image":"i"}}]}}}})",
           name, mark)});
  run.answered(reply.code, 0);
  auto made = api::parse_json(reply.body);
  if (reply.code != 201 || !made) return std::nullopt;
  api::JsonObject& metadata = made->value.as_object()["metadata"].as_object();
  metadata.erase("resourceVersion");
  // Who has set which label would count as well.
  metadata["managedFields"] = api::JsonArray{api::JsonObject{}};
  const std::string text = api::to_text(made->value);
  const std::size_t at = text.find(mark);
  return LabelledPod{.target = kPods + "/" + name,
                     .head = text.substr(0, at),
                     .tail = text.substr(at + mark.size())};
}

// Until it is made; nullopt: the server has ended, or the run.
std::optional<LabelledPod> make_next_pod(Wire& wire, Run& run) {
  static std::atomic<int> made = 0;  // by all threads, under different names
  while (!run.over() && wire.open() && !wire.ends()) {
    if (auto pod = make_pod(wire, fmt::format("labelled-{}", made++), run)) return pod;
    pause_ms(20);
  }
  return std::nullopt;
}

void make_labelled(const Cast& cast, Run& run) {
  const std::string labels = many_pairs(kLabels, "x");
  Wire wire(cast.server, {.client = &cast.tenant});
  while (const std::optional<LabelledPod> pod = make_next_pod(wire, run)) {
    const std::string body = pod->body(labels);
    run.answered(wire.ask(put(pod->target, body)).code, body.size());
  }
}

void relabel(const Cast& cast, Run& run) {
  Wire wire(cast.server, {.client = &cast.tenant});
  const std::optional<LabelledPod> pod = make_next_pod(wire, run);
  if (!pod) return;
  const std::vector<std::string> bodies = {pod->body(many_pairs(kLabels, "a")),
                                           pod->body(many_pairs(kLabels, "b"))};
  repeat(
      tenant(cast),
      [&](int i) { return put(pod->target, bodies[static_cast<std::size_t>(i) % bodies.size()]); },
      run);
}

// --- Annotations, finalizers and ports.

std::string with_metadata(std::string_view name, std::string_view more) {
  return fmt::format(R"({{"metadata":{{"name":"{}","managedFields":[{{}}],{}}}}})", name, more);
}

void make_map(const Cast& cast, const std::string& name) {
  must(tenant(cast), {.method = "POST",
                      .target = kMaps,
                      .body = fmt::format(R"({{"metadata":{{"name":"{}"}}}})", name)});
}

Asks annotated() {
  const std::vector<std::string> bodies = {
      with_metadata("annotated", fmt::format(R"("annotations":{{{}}})", many_pairs(19'800, "a"))),
      with_metadata("annotated", fmt::format(R"("annotations":{{{}}})", many_pairs(19'800, "b")))};
  return [bodies](int i) {
    return put(kMaps + "/annotated", bodies[static_cast<std::size_t>(i) % bodies.size()]);
  };
}

void make_finalized(const Cast& cast) {
  make_map(cast, "finalized");
  std::string finalizers;
  for (int i = 0; i < 19'900; ++i)
    finalizers += fmt::format(R"({}"e.x/{}{:06}")", i == 0 ? "" : ",", std::string(50, 'a'), i);
  must(tenant(cast),
       put(kMaps + "/finalized",
           with_metadata("finalized", fmt::format(R"("finalizers":[{}])", finalizers))));
}

std::string service_of_ports(int count) {
  std::string ports;
  for (int i = 0; i < count; ++i)
    ports += fmt::format(R"({}{{"name":"n{}","port":{}}})", i == 0 ? "" : ",", i, i + 1);
  return fmt::format(
      R"({{"metadata":{{"name":"ports"}},"spec":{{"type":"NodePort","ports":[{}]}}}})", ports);
}

}  // namespace

std::vector<Case> object_cases() {
  return {
      // What is stored is beyond what memory is promised for: little of it may be, here.
      {.name = "pods of 19,700 labels, made",
       .who = "tenant",
       .threads = 2,
       .attack = make_labelled,
       .flags = {"--nodes-per-rack", "8", "--max-stored-memory", "256"}},
      {.name = "two pods of 19,700 labels, relabelled",
       .who = "tenant",
       .threads = 2,
       .attack = relabel},
      {.name = "a deletion with 19,900 finalizers that is only tried",
       .who = "tenant",
       .threads = 2,
       .prepare = make_finalized,
       .attack = repeated(tenant, always("DELETE", kMaps + "/finalized?dryRun=All", kJson, ""))},
      {.name = "a Service of 2,700 node ports that is only tried",
       .who = "tenant",
       .threads = 2,
       .attack = repeated(
           tenant, always("POST", kCore + "services?dryRun=All", kJson, service_of_ports(2'700)))},
      {.name = "an object of 19,800 annotations, replaced again and again",
       .who = "tenant",
       .threads = 3,
       .prepare = [](const Cast& cast) { make_map(cast, "annotated"); },
       .attack = repeated(tenant, annotated())}};
}

}  // namespace muster::attack
