#include "workload/manifest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "api/decode.h"
#include "api/kinds/kind.h"
#include "api/reading.h"
#include "api/validation/job.h"
#include "api/validation/kind_rules.h"
#include "api/validation/workload.h"
#include "api/yaml.h"
#include "workload/job_set.h"
#include "workload/lws_manifest.h"
#include "workload/spelling.h"
#include "workload/stamper.h"

namespace muster::workload {
namespace {

using api::Json;
using api::JsonObject;

// Stands for the uid that a server will give.
constexpr std::string_view kNoUid = "00000000-0000-0000-0000-000000000000";

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

Json typed(const api::Kind& kind, Json document) {
  JsonObject out{{"apiVersion", kind.api_version(kind.stored_version)}, {"kind", kind.kind}};
  for (auto& member : document.as_object()) out[member.key()] = std::move(member.value());
  return out;
}

api::ObjectMeta meta_of(const Json& job) {
  api::ObjectMeta meta;
  const Json& metadata = api::part_of(job, "metadata");
  for (const auto& annotation : api::members(metadata, "annotations"))
    meta.annotations.emplace_back(api::key_of(annotation), api::text_of(annotation.value()));
  std::ranges::sort(meta.annotations);
  for (const Json& owner : api::elements(metadata, "ownerReferences"))
    meta.owners.push_back({.api_version = std::string(api::find_string(owner, "apiVersion")),
                           .kind = std::string(api::find_string(owner, "kind")),
                           .name = std::string(api::find_string(owner, "name")),
                           .uid = std::string(api::find_string(owner, "uid")),
                           .controller = api::find_true(owner, "controller")});
  return meta;
}

class Compiler {
 public:
  explicit Compiler(const ManifestOptions& options) : options_(options) {}

  Result<void> add(Json document) {
    if (api::find_string(document, "kind") == "List") {
      for (const Json& item : api::elements(document, "items")) TRY(add(Json(item)));
      return {};
    }
    const std::string kind_name(api::find_string(document, "kind"));
    const std::string named(api::find_string(api::part_of(document, "metadata"), "name"));
    if (kind_name.empty() || named.empty())
      return fail(Reason::Invalid, "a document needs kind, apiVersion and metadata.name");
    subject_ = fmt::format("{} \"{}\"", kind_name, named);
    Result<std::vector<Respelled>> changes = respell(document);
    if (!changes) return fail(about(changes.error()));
    for (const Respelled& change : *changes)
      note(change.to.empty() ? fmt::format("{} is gone", change.from)
                             : fmt::format("{} is now {}", change.from, change.to));
    const api::Kind* kind =
        api::find_kind(group_of(api::find_string(document, "apiVersion")), kind_name);
    if (kind == nullptr)
      return fail(Reason::Invalid, "{}: there is no such kind in {}", subject_,
                  api::find_string(document, "apiVersion"));
    out_.documents.push_back(document);
    const Make make = maker_of(*kind);
    if (make == nullptr) return {};
    const Result<Json> ready = prepare(*kind, std::move(document));
    if (!ready) return fail(about(ready.error()));
    if (const Result<void> made = (this->*make)(*ready); !made) return fail(about(made.error()));
    return {};
  }

  CompiledManifest extract_manifest() { return std::move(out_); }

 private:
  using Make = Result<void> (Compiler::*)(const Json& document);
  // Null for kinds that nothing is made for.
  static Make maker_of(const api::Kind& kind) {
    if (&kind == &api::kinds::workload()) return &Compiler::stamp;
    if (kind.group == "batch" && kind.kind == "Job") return &Compiler::compile_job;
    if (kind.group == "batch" && kind.kind == "CronJob") return &Compiler::compile_cron_job;
    if (kind.group == "jobset.x-k8s.io") return &Compiler::compile_job_set;
    if (kind.kind == "LeaderWorkerSet") return &Compiler::compile_leader_worker_set;
    return nullptr;
  }

  Error about(Error error) const {
    if (!error.message.starts_with(subject_)) error.message = subject_ + ": " + error.message;
    return error;
  }
  void note(const std::string& sentence) { out_.notes.push_back(subject_ + ": " + sentence); }

  // What a server makes of it before it looks whether it is valid.
  Result<Json> prepare(const api::Kind& kind, Json document) const {
    JsonObject& members = document.as_object();
    members.erase("apiVersion");
    members.erase("kind");
    JsonObject& metadata = api::ensure_object(members, "metadata");
    if (!metadata.contains("namespace")) metadata["namespace"] = options_.name_space;
    if (!metadata.contains("uid")) metadata["uid"] = kNoUid;
    api::ParsedJson parsed;
    parsed.value = std::move(document);
    api::Decoded decoded = TRY(api::decode(*kind.message, std::move(parsed)));
    if (!decoded.unknown.empty())
      return fail(Reason::BadRequest, "{}", fmt::join(decoded.unknown, ", "));
    const api::KindRules* rules = api::find_kind_rules(kind);
    if (rules != nullptr && rules->predefault != nullptr)
      rules->predefault(decoded.document.get_object());
    api::apply_defaults(*kind.message, decoded.document);
    if (rules != nullptr && rules->set_defaults != nullptr)
      rules->set_defaults(decoded.document.get_object());
    return std::move(decoded.document);
  }

  Result<void> compile_job(const Json& given) {
    Json job = given;
    api::default_job(job.as_object());
    api::select_pods_of_job(job);
    api::default_job(job.as_object());
    const std::string name(api::find_string(api::part_of(job, "metadata"), "name"));
    if (const api::FieldErrors errors = api::validate_job(job, options_.jobs.gates);
        !errors.empty())
      return fail(Reason::Invalid, "{}", errors.text());
    const JobGrouping grouping = grouping_of(meta_of(job), job_facts(job), options_.jobs);
    if (grouping.role != JobRole::Root) {
      note(why_not(grouping, job));
      return {};
    }
    Json workload = TRY(job_workload(job, options_.jobs));
    // The Workload's uid is not known either; the PodGroup refers to it.
    workload.as_object()["metadata"].as_object()["uid"] = kNoUid;
    Json group = TRY(job_pod_group(job, workload));
    const Json& spec = api::part_of(job, "spec");
    out_.links.push_back(
        {.job = fmt::format("{}/{}", api::find_string(api::part_of(job, "metadata"), "namespace"),
                            name),
         .pods = api::find_integer(spec, "parallelism").value_or(1),
         .pod_group = std::string(api::find_string(api::part_of(group, "metadata"), "name"))});
    workload.as_object()["metadata"].as_object().erase("uid");
    out_.documents.push_back(typed(api::kinds::workload(), std::move(workload)));
    out_.documents.push_back(typed(api::kinds::pod_group(), std::move(group)));
    if (api::find_string(api::part_of(job, "metadata"), "uid") == kNoUid)
      note("names end in a hash of the uid, which a server gives: theirs will differ");
    return {};
  }

  // What each of its Jobs will get.
  Result<void> compile_cron_job(const Json& given) {
    Json cron_job = given;
    api::default_cron_job(cron_job.as_object());
    if (const api::FieldErrors errors = api::validate_cron_job(cron_job, options_.jobs.gates);
        !errors.empty())
      return fail(Reason::Invalid, "{}", errors.text());
    const Json& metadata = api::part_of(cron_job, "metadata");
    const Json& from = api::part_of(api::part_of(cron_job, "spec"), "jobTemplate");
    const std::string name(api::find_string(metadata, "name"));
    JsonObject meta = api::members(from, "metadata");
    meta["name"] = run_of_cron_job(name);
    meta["namespace"] = api::find_string(metadata, "namespace");
    meta["uid"] = kNoUid;
    meta["ownerReferences"] = api::JsonArray{owner_reference(
        {.api_version = "batch/v1", .kind = "CronJob", .name = name, .uid = std::string(kNoUid)})};
    note(fmt::format("each of its Jobs gets such objects; {} stands for <{}>-<time of the run>",
                     run_of_cron_job(name), name));
    return compile_job(
        JsonObject{{"metadata", std::move(meta)}, {"spec", api::members(from, "spec")}});
  }

  Result<void> compile_leader_worker_set(const Json& set) {
    if (const std::optional<Delegation> delegation = delegation_of(meta_of(set))) {
      note(made_from_owners(*delegation));
      return {};
    }
    return compile_lws(set, options_.jobs.gates, kNoUid, out_);
  }

  Result<void> compile_job_set(const Json& set) {
    api::FieldErrors errors;
    api::find_kind_rules(*api::find_kind("jobset.x-k8s.io", "JobSet"))
        ->validate(set, nullptr, errors);
    if (!errors.empty()) return fail(Reason::Invalid, "{}", errors.text());
    const JobSetMapping mapping(set, options_.jobs);
    if (!mapping.grouped()) {
      note("not grouped: it does not say spec.scheduling");
      return {};
    }
    Json workload = TRY(mapping.workload());
    workload.as_object()["metadata"].as_object()["uid"] = kNoUid;
    std::vector<Json> groups;
    const Json& metadata = api::part_of(set, "metadata");
    for (const JobSetMapping::Group& group : mapping.groups(0)) {
      groups.push_back(typed(*group.kind, TRY(mapping.group(group, workload))));
      if (!group.composite)
        out_.links.push_back({.job = fmt::format("{}/{}", api::find_string(metadata, "namespace"),
                                                 api::find_string(metadata, "name")),
                              .pods = group.pods,
                              .pod_group = group.name,
                              .kind = "JobSet"});
    }
    workload.as_object()["metadata"].as_object().erase("uid");
    out_.documents.push_back(typed(api::kinds::workload(), std::move(workload)));
    for (Json& group : groups) out_.documents.push_back(std::move(group));
    if (api::delegates_groups(set)) note("its Jobs' controller makes the groups of their pods");
    if (api::find_string(metadata, "uid") == kNoUid)
      note("names end in a hash of the uid, which a server gives: theirs will differ");
    return {};
  }

  static std::string made_from_owners(const Delegation& delegation) {
    return fmt::format("its group is made from template \"{}\" of its owner's Workload",
                       delegation.template_name);
  }

  std::string why_not(const JobGrouping& grouping, const Json& job) const {
    if (grouping.role == JobRole::Delegated) return made_from_owners(grouping.delegation);
    if (job_facts(job).pods_name_group)
      return "not grouped: its pods name a group (spec.template.spec.schedulingGroup)";
    if (!options_.jobs.gates.on(api::Gate::WorkloadWithJob))
      return "not grouped: feature gate WorkloadWithJob is off";
    return meta_of(job).owners.empty() ? "not grouped: it does not say spec.scheduling"
                                       : "not grouped: its owner is";
  }

  Result<void> stamp(const Json& workload) {
    if (const api::FieldErrors errors = api::validate_workload(workload, options_.jobs.gates);
        !errors.empty())
      return fail(Reason::Invalid, "{}", errors.text());
    for (StampedGroup& group : stamp_each(workload, {workload_owner(workload)}))
      out_.documents.push_back(typed(*group.kind, std::move(group.document)));
    return {};
  }

  const ManifestOptions& options_;
  CompiledManifest out_;
  std::string subject_;
};

}  // namespace

Result<CompiledManifest> compile_manifest(std::string_view text, const ManifestOptions& options) {
  Compiler compiler(options);
  const std::vector<std::string_view> documents = api::split_yaml_documents(text);
  if (documents.empty()) return fail(Reason::BadRequest, "there is no document in it");
  for (const std::string_view document : documents) {
    api::ParsedJson parsed = TRY(api::parse_yaml(document));
    if (!parsed.duplicates.empty())
      return fail(Reason::BadRequest, "{} is given twice", parsed.duplicates.front());
    TRY(compiler.add(std::move(parsed.value)));
  }
  return compiler.extract_manifest();
}

}  // namespace muster::workload
