#include "app/build_verb.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iostream>
#include <iterator>
#include <utility>

#include "api/gates/gates.h"
#include "app/read_text_file.h"
#include "workload/manifest.h"

namespace muster::app {
namespace {

Result<std::string> read_all(const std::string& path) {
  if (path != "-") return read_text_file(path, "the manifests");
  return std::string{std::istreambuf_iterator<char>(std::cin), {}};
}

Result<workload::ManifestOptions> understand(const BuildFlags& flags) {
  workload::ManifestOptions options;
  options.name_space = flags.name_space;
  Result<api::Gates> gates =
      api::Gates::parse(fmt::format("{}", fmt::join(flags.feature_gates, ",")));
  if (!gates) return fail(Reason::Invalid, "--feature-gates: {}", gates.error().message);
  options.jobs.gates = *gates;
  if (flags.job_workloads != "all" && flags.job_workloads != "requested")
    return fail(Reason::Invalid, "--job-workloads {}: write all or requested", flags.job_workloads);
  options.jobs.group_all = flags.job_workloads == "all";
  if (flags.job_gang_default != "none" && flags.job_gang_default != "indexed")
    return fail(Reason::Invalid, "--job-gang-default {}: write none or indexed",
                flags.job_gang_default);
  options.jobs.gang_for_indexed = flags.job_gang_default == "indexed";
  return options;
}

}  // namespace

Result<BuildText> build_from_file(const BuildFlags& flags) {
  if (flags.output != "yaml" && flags.output != "json" && flags.output != "tree")
    return fail(Reason::Invalid, "--output {}: write yaml, json or tree", flags.output);
  const workload::ManifestOptions options = TRY(understand(flags));
  const std::string text = TRY(read_all(flags.file));
  Result<workload::CompiledManifest> compiled = workload::compile_manifest(text, options);
  if (!compiled) return fail(Reason::Invalid, "{}: {}", flags.file, compiled.error().message);
  BuildText out;
  out.output = flags.output == "yaml"   ? workload::print_yaml(*compiled)
               : flags.output == "json" ? workload::print_json(*compiled)
                                        : workload::print_tree(*compiled);
  out.notes = std::move(compiled->notes);
  return out;
}

}  // namespace muster::app
