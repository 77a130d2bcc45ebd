#include "app/map_verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "app/cluster_reader.h"
#include "app/terminal.h"
#include "base/result.h"
#include "explain/cluster_map.h"

namespace muster::app {
namespace {

struct MapFlags {
  ClusterFlags cluster;
  std::string resource;
  std::vector<std::string> levels;
  std::string depth;
  std::string colours = "auto";
  bool watch = false;
  int interval = 2;
  std::size_t width = 0;
};

Result<std::string> draw(client::HttpsClient& client, const MapFlags& flags) {
  const explain::Objects objects = TRY(read_cluster(client, Reading::ForLooking));
  const explain::MapOptions options{.resource = flags.resource, .levels = flags.levels};
  if (const std::string wrong = explain::wrong_option(objects, options, flags.depth);
      !wrong.empty())
    return fail(Reason::Invalid, "{}", wrong);
  const explain::ClusterMap map = explain::map_of(objects, options);
  const TerminalSize size = terminal_size();
  const bool colours =
      flags.colours == "always" || (flags.colours == "auto" && terminal_has_colours());
  return explain::render_map(map, {.width = flags.width > 0 ? flags.width : size.columns,
                                   .height = size.lines,
                                   .colours = colours,
                                   .depth = flags.depth});
}

int run_map(const MapFlags& flags) {
  Result<client::HttpsClient> client = connect(flags.cluster, "map");
  if (!client) return refuse(client.error().message);
  for (;;) {
    const auto start = std::chrono::steady_clock::now();
    const Result<std::string> text = draw(*client, flags);
    if (!text) return refuse(text.error().message);
    // From the top left corner, each line cleared to its end, then what is left below.
    if (flags.watch) {
      std::string screen = "\033[H";
      for (const char letter : *text)
        screen += letter == '\n' ? "\033[K\n" : std::string(1, letter);
      fmt::print("{}\033[J", screen);
    } else {
      fmt::print("{}", *text);
    }
    std::fflush(stdout);
    if (!flags.watch) return kOk;
    // A large cluster takes long to read: the server gets at least four times as long to rest.
    const auto took = std::chrono::steady_clock::now() - start;
    std::this_thread::sleep_for(std::max<std::chrono::steady_clock::duration>(
        std::chrono::seconds(flags.interval), 4 * took));
  }
}

}  // namespace

Verb add_map_verb(CLI::App& app) {
  CLI::App* words = app.add_subcommand(
      "map", "Show zones, blocks, racks and nodes, what is free and which gang is where");
  const auto flags = std::make_shared<MapFlags>();
  add_cluster_flags(*words, flags->cluster);
  words->add_option("--resource", flags->resource,
                    "What to count (default: GPUs, else another extended resource, else cpu)");
  words
      ->add_option("--levels", flags->levels,
                   "Labels of nodes, widest first (default: zone, block and rack)")
      ->delimiter(',')
      ->type_name("KEY,...");
  words->add_option("--depth", flags->depth,
                    "How deep: the last word of a level (rack), or node (default: as fits)");
  words->add_option("--color", flags->colours, "auto, always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  words->add_option("--width", flags->width, "Columns to use (default: the terminal's)");
  words->add_flag("-w,--watch", flags->watch, "Draw it again and again");
  words->add_option("--interval", flags->interval, "Seconds between two drawings")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  return {words, [flags] { return run_map(*flags); }};
}

}  // namespace muster::app
