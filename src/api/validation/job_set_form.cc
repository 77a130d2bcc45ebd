#include "api/validation/job_set_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "api/reading.h"

namespace muster::api {
namespace {

using Form = JobSetForm;

std::string_view annotation(const Json& holder, std::string_view key) {
  return find_string(part_of(part_of(holder, "metadata"), "annotations"), key);
}

bool is_set(const Json* holder, std::string_view member) {
  return holder != nullptr && find_set(*holder, member) != nullptr;
}

std::string job_path(std::size_t at) {
  return fmt::format("spec.replicatedJobs[{}].template.spec.scheduling", at);
}

Form::Job read_job(const Json& set, const Json& job) {
  const Json& job_template = part_of(job, "template");
  const Json& spec = part_of(job_template, "spec");
  const Json& pod = part_of(part_of(spec, "template"), "spec");
  Form::Job out{.name = find_string(job, "name")};
  out.replicas = std::max<std::int64_t>(0, find_integer(job, "replicas").value_or(1));
  const std::int64_t parallelism = find_integer(spec, "parallelism").value_or(1);
  out.pods = std::max<std::int64_t>(
      0, std::min(parallelism, find_integer(spec, "completions").value_or(parallelism)));
  out.priority_class = find_string(pod, "priorityClassName");
  out.scheduling = find_set(spec, "scheduling");
  out.names_group = find_set(pod, "schedulingGroup") != nullptr;
  out.exclusive = exclusive_topology(set, job_template);
  return out;
}

void read_jobs(const Json& set, Form& form) {
  const Json& spec = part_of(set, "spec");
  form.in_turn = find_string(part_of(spec, "startupPolicy"), "startupPolicyOrder") == "InOrder";
  std::map<std::string_view, std::size_t> known;
  for (const Json& job : elements(spec, "replicatedJobs")) {
    Form::Job read = read_job(set, job);
    for (const Json& dependency : elements(job, "dependsOn")) {
      const auto on = known.find(find_string(dependency, "name"));
      if (on != known.end()) read.after.push_back(on->second);
      form.in_turn = true;
    }
    known.emplace(read.name, form.jobs.size());
    form.jobs.push_back(std::move(read));
  }
}

bool is_exclusive(const Form& form, const Form::Part& part) {
  return std::ranges::any_of(part.jobs,
                             [&](std::size_t at) { return !form.jobs[at].exclusive.empty(); });
}

void read_entries(Form& form) {
  std::map<std::string_view, std::size_t> known;
  for (std::size_t at = 0; at < form.jobs.size(); ++at) known.emplace(form.jobs[at].name, at);
  std::size_t at = 0;
  for (const Json& entry : elements(*form.level1, "replicatedJobs")) {
    Form::Part part;
    part.whole_path = fmt::format("spec.scheduling.replicatedJobs[{}]", at++);
    part.each_path = part.whole_path + ".job";
    for (const Json& target : elements(entry, "targetReplicatedJobs"))
      if (const auto found = known.find(text_of(target)); found != known.end())
        part.jobs.push_back(found->second);
    part.whole = &entry;
    part.each = find_set(entry, "job");
    part.per_job = part.each != nullptr || is_exclusive(form, part);
    form.parts.push_back(std::move(part));
  }
  form.root = says_group(form.level1);
}

// One part for each replicatedJob.
void read_each_job(Form& form) {
  for (std::size_t at = 0; at < form.jobs.size(); ++at) {
    Form::Part part{.jobs = {at}};
    part.each = form.jobs[at].scheduling;
    part.each_path = job_path(at);
    part.whole_path = "spec.scheduling";
    part.per_job = part.each != nullptr || is_exclusive(form, part);
    form.parts.push_back(std::move(part));
  }
}

void read_templates(Form& form) {
  read_each_job(form);
  for (Form::Part& part : form.parts) part.gang = false;
  form.root = form.level1 != nullptr;
  // Without a root, those that say nothing are nobody's part.
  if (!form.root)
    std::erase_if(form.parts, [](const Form::Part& part) { return part.each == nullptr; });
}

void read_level1(Form& form) {
  const Json& policy = part_of(*form.level1, "schedulingPolicy");
  const bool counts_groups = is_set(&part_of(policy, "gang"), "minGroupCount");
  const bool exclusive =
      std::ranges::any_of(form.jobs, [](const Form::Job& job) { return !job.exclusive.empty(); });
  if (!form.in_turn && !exclusive && !counts_groups) {
    Form::Part all;
    for (std::size_t at = 0; at < form.jobs.size(); ++at) all.jobs.push_back(at);
    all.whole = form.level1;
    all.whole_path = "spec.scheduling";
    form.parts.push_back(std::move(all));
    return;
  }
  read_each_job(form);
  // What starts in turn can be one whole for topology and disruption, but no gang: the policy is
  // that of each part then.
  for (Form::Part& part : form.parts) part.gang = !is_set(&policy, "basic");
  form.root = !form.in_turn || is_set(form.level1, "schedulingConstraints") ||
              is_set(form.level1, "disruptionMode");
}

// A Workload has groups of pods at its top, or groups of groups, never both.
void close_top(Form& form) {
  const auto mark = [&] {
    for (Form::Part& part : form.parts) {
      const bool says =
          part.whole != nullptr && part.whole != form.level1 && says_group(part.whole);
      part.composite = part.per_job && (says || (form.root && form.count_jobs(part) > 1));
    }
  };
  mark();
  const auto composites = std::ranges::count_if(form.parts, &Form::Part::composite);
  if (form.root || composites == 0 || composites == std::ssize(form.parts)) return;
  form.root = true;
  mark();
}

}  // namespace

bool says_group(const Json* block) {
  return is_set(block, "schedulingPolicy") || is_set(block, "schedulingConstraints") ||
         is_set(block, "disruptionMode");
}

std::string_view exclusive_topology(const Json& set, const Json& job_template) {
  const std::string_view own = annotation(job_template, kExclusiveTopologyAnnotation);
  return own.empty() ? annotation(set, kExclusiveTopologyAnnotation) : own;
}

bool delegates_groups(const Json& set) {
  return annotation(set, kGroupManagementAnnotation) == "delegated";
}

std::int64_t JobSetForm::count_jobs(const Part& part) const {
  std::int64_t sum = 0;
  for (const std::size_t at : part.jobs)
    if (jobs[at].runs()) sum += jobs[at].replicas;
  return sum;
}

std::int64_t JobSetForm::count_pods(const Part& part) const {
  std::int64_t sum = 0;
  for (const std::size_t at : part.jobs) sum += jobs[at].replicas * jobs[at].pods;
  return sum;
}

std::int64_t JobSetForm::count_children() const {
  std::int64_t sum = 0;
  for (const Part& part : parts)
    if (runs(part)) sum += part.per_job && !part.composite ? count_jobs(part) : 1;
  return sum;
}

JobSetForm read_job_set_form(const Json& set) {
  Form form;
  read_jobs(set, form);
  form.level1 = find_set(part_of(set, "spec"), "scheduling");
  const bool templates = std::ranges::any_of(
      form.jobs, [](const Form::Job& job) { return job.scheduling != nullptr; });
  if (form.level1 != nullptr && !elements(*form.level1, "replicatedJobs").empty())
    form.source = Form::Source::Entries;
  else if (templates)
    form.source = Form::Source::Templates;
  else if (form.level1 != nullptr)
    form.source = Form::Source::Level1;
  switch (form.source) {
    case Form::Source::None: return form;
    case Form::Source::Level1: read_level1(form); break;
    case Form::Source::Entries: read_entries(form); break;
    case Form::Source::Templates: read_templates(form); break;
  }
  close_top(form);
  return form;
}

}  // namespace muster::api
