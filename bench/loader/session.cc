#include "session.h"

#include <fmt/format.h>

#include <charconv>
#include <random>
#include <thread>

#include "api/json.h"

namespace muster::loader {
namespace {

constexpr std::size_t kDeletedAtOnce = 1000;

std::string random_run_name() {
  std::random_device random;
  return fmt::format("load{:05x}", random() & 0xFFFFFU);
}

std::string message_of(std::string_view body) {
  const auto parsed = api::parse_json(body);
  const std::string_view message =
      parsed ? api::find_string(parsed->value, "message") : std::string_view{};
  return std::string(message.empty() ? body.substr(0, 200) : message);
}

}  // namespace

Session::Session(Crowd& crowd, Options options)
    : crowd_(crowd), options_(std::move(options)), run_(random_run_name()) {}

std::string Session::node_name(std::size_t number) const {
  return fmt::format("{}-n{}", run_, number);
}

std::string Session::path(std::string_view resource) const {
  return fmt::format("/api/v1/namespaces/{}/{}", options_.name_space, resource);
}

std::string Session::group_path() const {
  return fmt::format("/apis/scheduling.k8s.io/{}/namespaces/{}/podgroups", group_version_,
                     options_.name_space);
}

Result<void> Session::prepare() {
  const Crowd::Reply made = crowd_.ask({.method = "POST",
                                        .path = "/api/v1/namespaces",
                                        .body = namespace_json(options_.name_space)});
  made_namespace_ = made.good();
  if (!made.good() && made.code != 409)
    return fail(Reason::InternalError, "cannot create namespace {}: {} {}", options_.name_space,
                made.code, message_of(made.body));
  // Upstream refuses pods until a controller has made the namespace's service account.
  Crowd::Reply trial;
  for (int tries = 0; tries < 100; ++tries) {
    trial = crowd_.ask({.method = "POST",
                        .path = path("pods") + "?dryRun=All",
                        .body = pod_json({.run = run_}, run_ + "-trial")});
    if (trial.good()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
  if (!trial.good())
    return fail(Reason::InternalError, "cannot create pods in {}: {} {}", options_.name_space,
                trial.code, message_of(trial.body));
  for (const char* version : {"v1beta1", "v1alpha3", "v1alpha2"}) {
    const auto known =
        crowd_.ask({.path = fmt::format("/apis/scheduling.k8s.io/{}/podgroups?limit=1", version)});
    if (!known.good()) continue;
    group_version_ = version;
    break;
  }
  if (options_.nodes == 0) return {};
  Report report("nodes");
  const NodeShape shape{.run = run_, .nodes_per_rack = options_.nodes_per_rack};
  create(report, "/api/v1/nodes", options_.nodes,
         [&](std::size_t number) { return node_json(shape, number); });
  if (report.failed())
    return fail(Reason::InternalError, "cannot create nodes:\n{}", report.text());
  fmt::print(stderr,
             "note: the {} nodes have no kubelet and no leases; where a node lifecycle controller "
             "runs they turn NotReady after about 40 s and nothing more is bound to them\n",
             options_.nodes);
  // Upstream's admission taints new nodes until a kubelet reports; here none ever does.
  crowd_.drive(
      options_.connections,
      [&](std::size_t number, Asked& asked) {
        if (number == options_.nodes) return false;
        asked = {.method = "PATCH",
                 .path = "/api/v1/nodes/" + node_name(number),
                 .body = R"({"spec":{"taints":null}})",
                 .content_type = "application/merge-patch+json"};
        return true;
      },
      [](std::size_t, const Answered&) {});
  return {};
}

void Session::create(Report& report, const std::string& at, std::size_t count, const Body& body,
                     const std::function<void(std::size_t, const Answered&)>& done) {
  std::size_t refused = 0;
  std::string why;
  crowd_.drive(
      options_.connections,
      [&](std::size_t number, Asked& asked) {
        if (number == count) return false;
        asked = {.method = "POST", .path = at, .body = body(number)};
        return true;
      },
      [&](std::size_t number, const Answered& answered) {
        // 409: an earlier try was stored, but its answer got lost.
        if (!answered.good() && answered.code != 409 && refused++ == 0)
          why = fmt::format("{} {}", answered.code, message_of(answered.body));
        if (done) done(number, answered);
      });
  if (refused > 0) report.fail(fmt::format("{} creates were refused, e.g. {}", refused, why));
}

void Session::delete_run(const std::string& at) {
  for (int round = 0; round < 1000; ++round) {
    const auto reply = crowd_.ask(
        {.method = "DELETE",
         .path =
             fmt::format("{}?labelSelector={}%3D{}&limit={}", at, kRunLabel, run_, kDeletedAtOnce),
         .body =
             R"({"kind":"DeleteOptions","apiVersion":"v1","gracePeriodSeconds":0,"propagationPolicy":"Background"})"});
    // An answer without items: nothing was left.
    if (!reply.good() || reply.body.find(run_) == std::string::npos) return;
  }
}

void Session::clean_objects() {
  delete_run(
      fmt::format("/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets", options_.name_space));
  delete_run(fmt::format("/apis/batch/v1/namespaces/{}/jobs", options_.name_space));
  delete_run(path("pods"));
  if (!group_version_.empty()) delete_run(group_path());
  delete_run(path("configmaps"));
}

void Session::clean_all() {
  clean_objects();
  if (options_.nodes > 0) delete_run("/api/v1/nodes");
  if (made_namespace_)
    crowd_.ask({.method = "DELETE", .path = "/api/v1/namespaces/" + options_.name_space});
}

Meter::Meter(Session& session)
    : session_(session),
      start_(SteadyClock::now()),
      before_(usage_of(session.options().pids)),
      own_before_(own_cpu_s()) {
  session_.crowd().pop_errors();
}

double Meter::seconds() const {
  return std::chrono::duration<double>(SteadyClock::now() - start_).count();
}

void Meter::add_to(Report& report, std::size_t count, std::string_view things) {
  const double thousands = static_cast<double>(count) / 1000;
  if (!session_.options().pids.empty()) {
    const Usage after = usage_of(session_.options().pids);
    report.add(fmt::format("server CPU per 1,000 {}", things),
               (after.cpu_s - before_.cpu_s) * 1e3 / thousands, "ms");
    report.add("server RSS", static_cast<double>(after.rss_bytes) / (1U << 20U), "MiB");
  }
  report.add(fmt::format("loader CPU per 1,000 {}", things),
             (own_cpu_s() - own_before_) * 1e3 / thousands, "ms");
  for (const auto& [code, times] : session_.crowd().pop_errors())
    report.add(code == 0 ? "errors: connection" : fmt::format("errors: {}", code),
               static_cast<double>(times), "");
}

bool is_added(std::string_view event) { return event.starts_with(R"({"type":"ADDED")"); }

std::size_t number_in(std::string_view event, std::string_view prefix) {
  const std::string wanted = fmt::format(R"("name":"{})", prefix);
  const std::size_t at = event.find(wanted);
  if (at == std::string_view::npos) return std::string_view::npos;
  std::size_t number = 0;
  const char* const first = event.data() + at + wanted.size();
  const auto [end, error] = std::from_chars(first, event.data() + event.size(), number);
  return error == std::errc{} && *end == '"' ? number : std::string_view::npos;
}

}  // namespace muster::loader
