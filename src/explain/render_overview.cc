#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "api/values/human_duration.h"
#include "explain/indented_json.h"
#include "explain/overview.h"
#include "explain/words.h"

namespace muster::explain {
namespace {

constexpr std::size_t kColumns = 7;
using Row = std::array<std::string, kColumns>;

std::string name_of(const WaitingLine& line) {
  const std::string name = fmt::format("{}/{}", line.name_space, line.name);
  if (line.kind == "PodGroup") return "podgroup " + name;
  if (line.kind == "CompositePodGroup") return "compositepodgroup " + name;
  return line.pods == 1 ? "pod " + name : fmt::format("{} pods like {}", line.pods, name);
}

std::string state_of(const WaitingLine& line) {
  return line.was_planned ? std::string(state_word(line.state)) : "not planned";
}

std::string reason_of(const WaitingLine& line) {
  if (!line.was_planned) return "the budget ended with those ahead; ask about it by name";
  if (line.state == State::FitsNow && line.reason.empty()) return "the next attempt will place it";
  return line.reason;
}

Row row_of(const WaitingLine& line, Time now) {
  const bool is_tree = line.kind != "Pod";
  return {api::human_duration(now - line.since),
          name_of(line),
          is_tree ? fmt::format("{} of {}", line.pods, line.pods + line.placed)
                  : fmt::format("{}", line.pods),
          fmt::format("{}", line.priority),
          line.in_queue ? fmt::format("{}", line.ahead) : "-",
          state_of(line),
          reason_of(line)};
}

std::string cut(std::string line, std::size_t width) {
  if (width == 0 || width_of(line) <= width) return line;
  std::size_t columns = 0;
  std::size_t at = 0;
  while (at < line.size()) {
    const bool starts = (line[at] & 0xC0) != 0x80;
    if (starts && ++columns == width) break;
    ++at;
  }
  return line.substr(0, at) + "…";
}

}  // namespace

std::string render_text(const Overview& overview, std::size_t width) {
  if (overview.lines.empty()) return "Nothing waits.\n";
  std::vector<Row> rows = {{"AGE", "WAITS", "PODS", "PRIORITY", "AHEAD", "STATE", "REASON"}};
  for (const WaitingLine& line : overview.lines) rows.push_back(row_of(line, overview.read_at));
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i + 1 < kColumns; ++i)
      widths[i] = std::max(widths[i], width_of(row[i]));
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i + 1 < kColumns; ++i) line += padded(row[i], widths[i]) + "  ";
    out += cut(line + row.back(), width) + "\n";
  }
  std::vector<std::string> who;
  if (overview.trees > 0) who.push_back(count_of(overview.trees, "tree"));
  if (overview.lone_pods > 0) who.push_back(count_of(overview.lone_pods, "lone pod"));
  out += fmt::format(
      "\n{} wait{}, in the order of the queue. One of them in full: muster explain KIND NAME -n "
      "NAMESPACE\n",
      fmt::join(who, " and "), overview.trees + overview.lone_pods == 1 ? "s" : "");
  return out;
}

std::string render_json(const Overview& overview) {
  api::JsonArray lines;
  for (const WaitingLine& line : overview.lines) {
    api::JsonObject out{{"kind", line.kind},
                        {"namespace", line.name_space},
                        {"name", line.name},
                        {"pods", line.pods},
                        {"placed", line.placed},
                        {"priority", line.priority},
                        {"since", format_time(line.since)},
                        {"state", line.was_planned ? state_name(line.state) : "NotPlanned"}};
    if (line.in_queue) out["ahead"] = line.ahead;
    if (!line.reason.empty()) out["reason"] = line.reason;
    lines.push_back(std::move(out));
  }
  return indented_json(api::JsonObject{
      {"trees", overview.trees}, {"lonePods", overview.lone_pods}, {"waiting", std::move(lines)}});
}

}  // namespace muster::explain
