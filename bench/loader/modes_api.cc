// The modes that measure the API alone.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "modes.h"

namespace muster::loader {
namespace {

// No scheduler answers to this name.
constexpr std::string_view kNobody = "muster-loader-nobody";

double ms_since(SteadyTime from) {
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - from).count();
}

std::string name_of(const Session& session, std::size_t number) {
  return fmt::format("{}-p{}", session.run(), number);
}

void create_idle_pods(Session& session, Report& report, const CreatesMode& mode,
                      Latencies& latencies) {
  PodShape shape{.run = session.run(), .scheduler = std::string(kNobody)};
  session.create(
      report, session.path("pods"), mode.pods,
      [&](std::size_t number) {
        if (mode.on_nodes) shape.node = session.node_name(number % session.options().nodes);
        return pod_json(shape, name_of(session, number));
      },
      [&](std::size_t, const Answered& answered) { latencies.add(ms_since(answered.sent)); });
}

}  // namespace

Report run_creates(Session& session, const CreatesMode& mode) {
  Report report(
      fmt::format("creates: {} pods, {} connections", mode.pods, session.options().connections));
  if (mode.on_nodes && session.options().nodes == 0) {
    report.fail("--on-nodes needs --nodes");
    return report;
  }
  Meter meter(session);
  Latencies latencies;
  create_idle_pods(session, report, mode, latencies);
  report.add("durable creates/s", static_cast<double>(mode.pods) / meter.seconds(), "/s");
  report.add("create answered after", latencies);
  meter.add_to(report, mode.pods, "creates");
  return report;
}

Report run_gets(Session& session, const GetsMode& mode) {
  Report report(fmt::format("gets: {} of {} pods, {} connections", mode.gets, mode.objects,
                            session.options().connections));
  Latencies ignored;
  create_idle_pods(session, report, {.pods = mode.objects}, ignored);
  Meter meter(session);
  Latencies latencies;
  std::size_t refused = 0;
  session.crowd().drive(
      session.options().connections,
      [&](std::size_t number, Asked& asked) {
        if (number == mode.gets) return false;
        asked.path = session.path("pods/" + name_of(session, number * 7919 % mode.objects));
        asked.method = "GET";
        asked.body.clear();
        return true;
      },
      [&](std::size_t, const Answered& answered) {
        if (!answered.good()) ++refused;
        latencies.add(ms_since(answered.sent));
      });
  if (refused > 0) report.fail(fmt::format("{} gets were refused", refused));
  report.add("gets/s", static_cast<double>(mode.gets) / meter.seconds(), "/s");
  report.add("get answered after", latencies);
  meter.add_to(report, mode.gets, "gets");
  return report;
}

Report run_lists(Session& session, const ListsMode& mode) {
  Report report(fmt::format("lists: all of {} pods", mode.pods));
  const Usage before = usage_of(session.options().pids);
  Latencies ignored;
  create_idle_pods(session, report, {.pods = mode.pods}, ignored);
  const Usage filled = usage_of(session.options().pids);

  Meter meter(session);
  Latencies whole;
  std::size_t bytes = 0;
  for (int i = 0; i < mode.times; ++i) {
    const auto reply = session.crowd().ask({.path = session.path("pods")});
    if (!reply.good() || reply.body.find(name_of(session, mode.pods - 1)) == std::string::npos)
      report.fail(fmt::format("a list gave {} and {} bytes", reply.code, reply.bytes));
    whole.add(reply.seconds * 1e3);
    bytes = reply.bytes;
  }
  report.add("list best", whole.at(0), "ms");
  report.add("list", whole);
  report.add("list size", static_cast<double>(bytes) / (1U << 20U), "MiB");
  const auto pods = static_cast<double>(mode.pods);
  report.add("JSON per pod", static_cast<double>(bytes) / pods, "B");
  if (!session.options().pids.empty())
    report.add("server memory per pod beyond its JSON",
               (static_cast<double>(filled.rss_bytes) - static_cast<double>(before.rss_bytes) -
                static_cast<double>(bytes)) /
                   pods,
               "B");
  meter.add_to(report, static_cast<std::size_t>(mode.times), "lists");
  return report;
}

namespace {

// What one watcher has seen; all must come to the same.
struct Seen {
  std::size_t events = 0;
  std::uint64_t last_revision = 0;
  std::uint64_t order = 0;  // changes with every event and with their order
  bool disorder = false;
};

}  // namespace

Report run_watchers(Session& session, const WatchersMode& mode) {
  Report report(fmt::format("watchers: {} watches of {} events", mode.watchers, mode.events));
  const std::string prefix = session.run() + "-c";
  std::vector<Seen> seen(mode.watchers);
  std::size_t delivered = 0;
  const auto list = session.crowd().ask({.path = session.path("configmaps?limit=1")});
  const std::size_t opened =
      session.crowd().watch_many(mode.watchers,
                                 fmt::format("{}?watch=true&resourceVersion={}",
                                             session.path("configmaps"), revision_in(list.body)),
                                 [&](std::size_t watcher, std::string_view event) {
                                   const std::size_t number = number_in(event, prefix);
                                   if (number == std::string_view::npos) return;
                                   Seen& mine = seen[watcher];
                                   const std::uint64_t revision = revision_in(event);
                                   mine.disorder |= revision <= mine.last_revision;
                                   mine.last_revision = revision;
                                   mine.order = mine.order * 1'099'511'628'211U + number + 1;
                                   ++mine.events;
                                   ++delivered;
                                 });
  if (opened < mode.watchers)
    report.fail(fmt::format("only {} of {} watches were opened", opened, mode.watchers));

  Meter meter(session);
  const auto body = [&](std::size_t number) {
    return config_map_json(session.run(), fmt::format("{}{}", prefix, number), "x");
  };
  const auto all_have = [&](std::size_t events) {
    return session.crowd().wait_until([&] { return delivered >= events * mode.watchers; },
                                      std::chrono::seconds{session.options().patience_s});
  };
  Latencies to_all;
  for (std::size_t i = 0; i < mode.single_events; ++i) {
    const SteadyTime start = SteadyClock::now();
    session.crowd().ask({.method = "POST", .path = session.path("configmaps"), .body = body(i)});
    if (!all_have(i + 1)) break;
    to_all.add(ms_since(start));
  }
  report.add("one event, create sent to all have it", to_all);
  const SteadyTime start = SteadyClock::now();
  session.create(report, session.path("configmaps"), mode.events,
                 [&](std::size_t number) { return body(mode.single_events + number); });
  const std::size_t total = mode.single_events + mode.events;
  all_have(total);
  report.add("all events to all watchers", ms_since(start), "ms");
  report.add("events delivered/s",
             static_cast<double>(mode.events * mode.watchers) / ms_since(start) * 1e3, "/s");
  std::size_t lost = 0;
  std::size_t disordered = 0;
  for (const Seen& each : seen) {
    lost += total - std::min(total, each.events);
    disordered += each.disorder || each.order != seen.front().order ? 1U : 0U;
  }
  report.add("events lost", static_cast<double>(lost), "");
  report.add("watchers that saw another order", static_cast<double>(disordered), "");
  if (lost > 0 || disordered > 0) report.fail("watchers must see every event, in order");
  if (session.crowd().broken_watches() > 0)
    report.fail(fmt::format("{} watches broke", session.crowd().broken_watches()));
  meter.add_to(report, total * mode.watchers, "events delivered");
  session.crowd().close_watches();
  return report;
}

}  // namespace muster::loader
