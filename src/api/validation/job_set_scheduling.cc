#include "api/validation/job_set_scheduling.h"

#include <fmt/format.h>

#include <set>
#include <string>

#include "api/reading.h"
#include "api/validation/group_rules.h"
#include "api/validation/job_rules.h"
#include "api/validation/job_set_form.h"

namespace muster::api {
namespace {

using Form = JobSetForm;

constexpr std::size_t kTemplatesMax = 8;
constexpr std::int64_t kJobGroupsMax = 10'000;
const FieldPath kScheduling("spec.scheduling");

// What a group consists of, where somebody says how many of it must fit.
enum class Members : std::uint8_t { Pods, Groups };

class SchedulingRules {
 public:
  SchedulingRules(const Form& form, const Gates& gates, FieldErrors& errors)
      : form_(form),
        rules_(GroupRules::Write::Create, gates, errors),
        gates_(gates),
        errors_(errors) {}

  void check(const Json& set) {
    check_targets(set);
    check_one_place(set);
    if (form_.parts.size() > kTemplatesMax)
      return errors_.too_many(kScheduling, form_.parts.size(), kTemplatesMax);
    if (form_.root && form_.level1 != nullptr && form_.source != Form::Source::Level1)
      check_block(*form_.level1, Members::Groups, form_.count_children(), "spec.scheduling");
    if (form_.source == Form::Source::Level1) check_level1();
    for (const Form::Part& part : form_.parts) check_part(part);
    check_order();
    check_priorities();
    check_delegation(set);
  }

 private:
  void check_targets(const Json& set) {
    if (form_.source != Form::Source::Entries) return;
    std::set<std::string_view> open;
    for (const Form::Job& job : form_.jobs) open.insert(job.name);
    std::set<std::string_view> seen;
    const FieldPath list = kScheduling.child("replicatedJobs");
    std::size_t at = 0;
    for (const Json& entry : elements(*find_path(set, "spec.scheduling"), "replicatedJobs")) {
      const FieldPath entry_path = list.index(at++);
      const FieldPath targets = entry_path.child("targetReplicatedJobs");
      const JsonArray& names = elements(entry, "targetReplicatedJobs");
      if (names.empty()) errors_.required(targets);
      if (find_set(entry, "job") != nullptr && names.size() > 1)
        errors_.forbidden(entry_path.child("job"), "may only be said of one replicatedJob");
      std::size_t name_at = 0;
      for (const Json& name : names) {
        const FieldPath here = targets.index(name_at++);
        const std::string_view text = text_of(name);
        if (!seen.insert(text).second)
          errors_.duplicate(here, text);
        else if (open.erase(text) == 0)
          errors_.invalid(here, text,
                          fmt::format("invalid replicatedJob name '{}' does not appear in "
                                      ".spec.ReplicatedJobs",
                                      text));
      }
    }
    for (const std::string_view name : open)
      errors_.required(list, fmt::format("replicatedJob '{}' is not targeted", name));
  }

  // One replicatedJob must not be scheduled in two ways.
  void check_one_place(const Json& set) {
    const FieldPath list("spec.replicatedJobs");
    std::size_t at = 0;
    for (const Json& job : elements(part_of(set, "spec"), "replicatedJobs")) {
      const Form::Job& read = form_.jobs[at];
      const FieldPath job_path = list.index(at++);
      const FieldPath template_path = job_path.child("template");
      const FieldPath spec_path = template_path.child("spec");
      const FieldPath scheduling = spec_path.child("scheduling");
      if (read.scheduling != nullptr && form_.source == Form::Source::Entries)
        errors_.forbidden(scheduling,
                          "spec.scheduling.replicatedJobs already says how this replicatedJob is "
                          "scheduled; it can be said in one place only");
      else if (read.scheduling != nullptr)
        validate_job_scheduling(part_of(part_of(job, "template"), "spec"), nullptr,
                                JobForm::Template, gates_, spec_path, errors_);
      if (!read.names_group) continue;
      const FieldPath pods = spec_path.child("template");
      const FieldPath pod = pods.child("spec");
      errors_.forbidden(pod.child("schedulingGroup"),
                        "the pods' groups are made from the scheduling of the JobSet");
    }
  }

  // Policy, constraints, disruption mode and claims of one group; `most` is how many members it
  // has.
  void check_block(const Json& block, Members members, std::int64_t most, const std::string& path) {
    const FieldPath here(path);
    const bool pods = members == Members::Pods;
    if (const Json* policy = find_set(block, "schedulingPolicy"))
      check_policy(*policy, members, most, here);
    const FieldPath constraints = here.child("schedulingConstraints");
    if (const Json* said = find_set(block, "schedulingConstraints"))
      rules_.constraints_block(*said, constraints);
    const FieldPath mode = here.child("disruptionMode");
    const Json* disruption = find_set(block, "disruptionMode");
    if (disruption != nullptr) rules_.disruption_block({.now = disruption}, mode);
    const Json* policy = find_set(block, "schedulingPolicy");
    if (pods && disruption != nullptr && find_set(*disruption, "all") != nullptr &&
        policy != nullptr && find_set(*policy, "basic") != nullptr)
      errors_.invalid(mode, "",
                      "the disruptionMode `all` is not supported with the Basic scheduling policy");
    const FieldPath claims = here.child("resourceClaims");
    if (!pods && !elements(block, "resourceClaims").empty())
      errors_.forbidden(claims, "only groups of pods can have claims");
    else
      rules_.claims_block(elements(block, "resourceClaims"), claims);
  }

  void check_policy(const Json& policy, Members members, std::int64_t most, const FieldPath& here) {
    const bool pods = members == Members::Pods;
    const std::string_view counted = pods ? "minCount" : "minGroupCount";
    const std::string_view other = pods ? "minGroupCount" : "minCount";
    const FieldPath path = here.child("schedulingPolicy");
    rules_.policy_block({.now = &policy}, path, counted);
    const Json& gang = part_of(policy, "gang");
    const FieldPath gang_path = path.child("gang");
    if (find_set(gang, other) != nullptr)
      errors_.forbidden(gang_path.child(other),
                        pods ? "this group consists of pods: use minCount"
                             : "this group consists of groups: use minGroupCount");
    const auto count = find_integer(gang, counted);
    if (count && *count > most)
      errors_.invalid(gang_path.child(counted), *count,
                      fmt::format("must not be greater than the number of its {} ({})",
                                  pods ? "pods" : "groups", most));
  }

  void check_level1() {
    if (form_.parts.size() == 1 && form_.parts.front().whole == form_.level1) return;
    if (!form_.in_turn)
      return check_block(*form_.level1, Members::Groups, form_.count_children(), "spec.scheduling");
    Json block = *form_.level1;
    // Its policy is that of each replicatedJob.
    if (const Json* policy = find_set(*form_.level1, "schedulingPolicy")) {
      const FieldPath path = kScheduling.child("schedulingPolicy");
      rules_.policy_block({.now = policy}, path, "minCount");
      const FieldPath gang = path.child("gang");
      for (const std::string_view member : {"minCount", "minGroupCount"})
        if (find_set(part_of(*policy, "gang"), member) != nullptr)
          errors_.forbidden(gang.child(member),
                            "replicatedJobs start one after the other here, and each is a gang of "
                            "its own");
      block.get_object().erase("schedulingPolicy");
    }
    check_block(block, Members::Groups, form_.count_children(), "spec.scheduling");
  }

  void check_part(const Form::Part& part) {
    const std::int64_t jobs = form_.count_jobs(part);
    const bool of_pods = !part.composite && !part.per_job;
    if (part.whole != nullptr && of_pods)
      check_block(*part.whole, Members::Pods, form_.count_pods(part), part.whole_path);
    else if (part.whole != nullptr &&
             (part.composite || !elements(*part.whole, "resourceClaims").empty()))
      check_block(*part.whole, Members::Groups, jobs, part.whole_path);
    if (part.per_job && jobs > kJobGroupsMax) {
      const FieldPath here(part.whole_path);
      errors_.forbidden(here,
                        fmt::format("at most {} Jobs can be groups of their own", kJobGroupsMax));
    }
    if (part.each == nullptr) return;
    const std::size_t job = part.jobs.empty() ? form_.jobs.size() : part.jobs.front();
    if (form_.source == Form::Source::Entries && job < form_.jobs.size())
      check_block(*part.each, Members::Pods, form_.jobs[job].pods, part.each_path);
    if (job < form_.jobs.size()) check_exclusive(part, form_.jobs[job]);
  }

  void check_exclusive(const Form::Part& part, const Form::Job& job) {
    if (job.exclusive.empty()) return;
    for (const Json& topology :
         elements(part_of(*part.each, "schedulingConstraints"), "topology")) {
      const FieldPath here(part.each_path);
      if (find_string(topology, "key") != job.exclusive)
        errors_.invalid(here.child("schedulingConstraints"), find_string(topology, "key"),
                        fmt::format("each Job is placed exclusively in one {}, and a group has one "
                                    "topology constraint",
                                    job.exclusive));
    }
  }

  static bool is_gang(const Json* block, bool otherwise) {
    const Json* policy = block == nullptr ? nullptr : find_set(*block, "schedulingPolicy");
    return policy == nullptr ? otherwise : find_set(*policy, "gang") != nullptr;
  }

  // A gang whose members start only when others of it are ready would wait forever.
  void check_order() {
    if (!form_.in_turn) return;
    if (form_.root && form_.source != Form::Source::Level1 && is_gang(form_.level1, false))
      errors_.forbidden(kScheduling.child("schedulingPolicy"),
                        "replicatedJobs start one after the other here: the whole must be basic, "
                        "each of them can be a gang");
    for (const Form::Part& part : form_.parts) {
      const bool gang = is_gang(part.whole, part.gang);
      if (part.jobs.size() < 2 || !gang || !depends_on_itself(part)) continue;
      const FieldPath here(part.whole_path);
      errors_.forbidden(here,
                        "its replicatedJobs start one after the other and cannot be one gang");
    }
  }

  bool depends_on_itself(const Form::Part& part) const {
    if (std::ranges::all_of(form_.jobs, [](const Form::Job& job) { return job.after.empty(); }))
      return true;  // in order
    const std::set<std::size_t> members(part.jobs.begin(), part.jobs.end());
    std::set<std::size_t> reached;
    std::vector<std::size_t> open;
    const auto look_behind = [&](std::size_t job) {
      for (const std::size_t before : form_.jobs[job].after)
        if (reached.insert(before).second) open.push_back(before);
    };
    for (const std::size_t member : part.jobs) look_behind(member);
    while (!open.empty()) {
      const std::size_t job = open.back();
      open.pop_back();
      if (members.contains(job)) return true;
      look_behind(job);
    }
    return false;
  }

  void check_priorities() {
    const Form::Job* first = nullptr;
    for (const Form::Part& part : form_.parts)
      for (const std::size_t at : part.jobs) {
        const Form::Job& job = form_.jobs[at];
        if (first == nullptr) first = &job;
        if (job.priority_class == first->priority_class) continue;
        const FieldPath list("spec.replicatedJobs");
        const FieldPath path = list.index(at);
        errors_.invalid(path.child("template.spec.template.spec.priorityClassName"),
                        job.priority_class,
                        fmt::format("must be \"{}\" as in replicatedJob '{}': what is scheduled as "
                                    "one workload has one priority",
                                    first->priority_class, first->name));
        return;
      }
  }

  void check_delegation(const Json& set) {
    const std::string_view said =
        find_string(part_of(part_of(set, "metadata"), "annotations"), kGroupManagementAnnotation);
    const FieldPath annotations("metadata.annotations");
    const FieldPath path = annotations.key(kGroupManagementAnnotation);
    if (!said.empty() && said != "centralized" && said != "delegated")
      errors_.not_supported(path, said,
                            std::array<std::string_view, 2>{"centralized", "delegated"});
    if (said != "delegated") return;
    for (const Form::Part& part : form_.parts)
      if (!part.per_job && form_.count_jobs(part) > 1)
        return errors_.forbidden(path,
                                 "the groups of Jobs can be left to the Jobs only where each Job "
                                 "is a group of its own");
  }

  const Form& form_;
  GroupRules rules_;
  const Gates& gates_;
  FieldErrors& errors_;
};

// The block without the numbers that may follow the size of Jobs.
Json without_minimums(const Json* block) {
  if (block == nullptr) return nullptr;
  Json out = *block;
  const auto strip = [](Json& holder) {
    if (!holder.is_object()) return;
    Json* policy = holder.get_object().if_contains("schedulingPolicy");
    Json* gang = policy == nullptr || !policy->is_object()
                     ? nullptr
                     : policy->get_object().if_contains("gang");
    if (gang != nullptr && gang->is_object()) gang->get_object().erase("minCount");
  };
  strip(out);
  Json* entries = out.is_object() ? out.get_object().if_contains("replicatedJobs") : nullptr;
  if (entries == nullptr || !entries->is_array()) return out;
  for (Json& entry : entries->get_array()) {
    strip(entry);
    if (Json* job = entry.is_object() ? entry.get_object().if_contains("job") : nullptr)
      strip(*job);
  }
  return out;
}

}  // namespace

void validate_job_set_scheduling(const Json& set, const Json* old, const Gates& gates,
                                 FieldErrors& errors) {
  const Form form = read_job_set_form(set);
  if (old != nullptr && !find_true(part_of(*old, "spec"), "suspend")) {
    const Json now = without_minimums(find_set(part_of(set, "spec"), "scheduling"));
    const Json before = without_minimums(find_set(part_of(*old, "spec"), "scheduling"));
    if (now != before)
      errors.forbidden(kScheduling, "may only change while the JobSet is suspended");
  }
  if (form.grouped()) SchedulingRules(form, gates, errors).check(set);
}

}  // namespace muster::api
