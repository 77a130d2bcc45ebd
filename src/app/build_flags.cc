#include "app/build_flags.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>

#include "app/build_verb.h"

namespace muster::app {
namespace {

void add_build_flags(CLI::App& verb, BuildFlags& flags) {
  verb.add_option("-f,--filename", flags.file,
                  "A file of manifests, YAML or JSON; - reads them here")
      ->required();
  verb.add_option("-n,--namespace", flags.name_space, "Namespace of objects that name none")
      ->capture_default_str();
  verb.add_option("-o,--output", flags.output, "yaml, json or tree")->capture_default_str();
  verb.add_option("--job-workloads", flags.job_workloads,
                  "Which Jobs are grouped: all, or requested (those that say spec.scheduling)")
      ->capture_default_str();
  verb.add_option("--job-gang-default", flags.job_gang_default,
                  "Which Jobs are gangs unless they say otherwise: none, or indexed")
      ->capture_default_str();
  verb.add_option("--feature-gates", flags.feature_gates, "Features to switch on or off")
      ->allow_extra_args(false)
      ->type_name("NAME=BOOL,...");
}

int build(const BuildFlags& flags) {
  const Result<BuildText> text = build_from_file(flags);
  if (!text) return refuse(text.error().message);
  for (const std::string& note : text->notes) fmt::print(stderr, "{}\n", note);
  fmt::print("{}", text->output);
  return kOk;
}

}  // namespace

Verb add_build_verb(CLI::App& app) {
  CLI::App* words = app.add_subcommand(
      "build", "Show the Workloads and groups that manifests become; needs no server");
  const auto flags = std::make_shared<BuildFlags>();
  add_build_flags(*words, *flags);
  return {words, [flags] { return build(*flags); }};
}

}  // namespace muster::app
