#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json.h"
#include "api/kinds/kind.h"
#include "api/validation/job_set_form.h"
#include "base/error.h"
#include "base/result.h"
#include "workload/builder.h"
#include "workload/job.h"
#include "workload/stamper.h"

namespace muster::workload {

// A JobSet (jobset.x-k8s.io) as a workload: the templates of its groups, the groups of each attempt
// to run it, and the group of each Job's pods.
//
//   JobSet        root     group of groups, if the set as a whole asks for anything
//    └ part       workers  group of groups, if its Jobs are groups of their own
//       └ Job i   one group of pods for each, from one template "workers-job"
//
// A level that says nothing and holds one group is left out; pods of a part whose Jobs are not
// groups of their own share one. Every attempt has groups of its own, so that pods of the one
// before, which are still ending, never count for the next.
class JobSetMapping {
 public:
  // `set` is a JobSet's document with metadata and spec; it must outlive the mapping.
  JobSetMapping(const api::Json& set, const JobOptions& options);
  JobSetMapping(const JobSetMapping&) = delete;
  JobSetMapping& operator=(const JobSetMapping&) = delete;

  // Whether it asks for groups, and has pods to put into them.
  bool grouped() const { return !templates_.empty(); }
  // Whether there can be groups at all.
  bool may_group() const { return options_.gates.on(api::Gate::GenericWorkload); }

  // What it asks for; Invalid names each field that is wrong.
  Result<api::Json> workload() const;
  std::string workload_name() const;
  // A hash of its templates, without minimums that follow the size of Jobs; also in annotation
  // kShapeAnnotation of the Workload. A different shape needs a different Workload.
  std::string shape() const;

  struct Group {
    const api::Kind* kind = nullptr;
    std::string name;
    std::string template_name;
    std::string parent;     // the composite group it is part of; empty for one at the top
    std::int64_t pods = 0;  // that will name it; 0 for a group of groups
    bool composite = false;
  };
  // Those that the set's controller makes for an attempt, parents before children. A set may ask
  // for two billion Jobs, so they are visited one by one, and the visitor says how to continue.
  enum class Next : std::uint8_t { Group, Template, End };  // Template: with that of another one
  void visit_groups(std::int32_t attempt, const std::function<Next(Group group)>& visit) const;
  // All of them; only for sets that are known to be small.
  std::vector<Group> groups(std::int32_t attempt) const;

  // Distinguishes these from all other groups, by name.
  class GroupNames {
   public:
    bool contains(std::string_view name, bool composite) const;

   private:
    friend class JobSetMapping;
    using Name = std::pair<bool, std::string>;  // composite, name
    std::set<Name> shared_;
    std::map<Name, std::int64_t> of_jobs_;  // without the index of the Job: how many there are
  };
  GroupNames group_names(std::int32_t attempt) const;

  // Makes the documents of groups. `workload` is what the API returned, with its uid; it and the
  // mapping must outlive this.
  class GroupMaker {
   public:
    GroupMaker(const JobSetMapping& mapping, const api::Json& workload);
    // Why it cannot make groups of this template.
    std::optional<Error> fault(const Group& group) const;
    Result<api::Json> make(const Group& group) const;

   private:
    const Stamper stamper_;
    const std::vector<Owner> owners_;
  };
  // The document of one group, as GroupMaker makes it.
  Result<api::Json> group(const Group& group, const api::Json& workload) const {
    return GroupMaker(*this, workload).make(group);
  }

  // How the pods of a Job come into their group: by its name, or, where the Job's controller makes
  // it, from a template and below a composite group. All empty: they have none.
  struct Link {
    std::string pod_group = {};
    std::string template_name = {};
    std::string parent = {};
    friend bool operator==(const Link&, const Link&) = default;
  };
  Link link(std::size_t replicated_job, std::int32_t index, std::int32_t attempt) const;

 private:
  using Form = api::JobSetForm;
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  struct Template {
    std::string name;
    std::size_t parent = kNone;  // in templates_
    std::size_t part = kNone;    // in form_.parts; none for the root
    std::size_t job = kNone;     // in form_.jobs: there is one group for each of its Jobs
    bool composite = false;
  };

  void add_templates();
  void add_part(std::size_t part, std::size_t parent);
  void find_templates_of_jobs();
  std::string unique_name(std::string wanted, bool shared);
  std::string name_of(const Form::Part& part) const;
  std::string group_name(const Template& from, std::int32_t index, std::int32_t attempt) const;
  bool makes(const Template& from) const;

  std::vector<Item> roots() const;
  Item item(std::size_t at) const;
  Config root_config() const;
  Config part_config(const Form::Part& part) const;
  Config job_config(const Form::Part& part, const Form::Job& job) const;

  const api::Json& set_;
  const JobOptions& options_;
  const Form form_;
  const bool delegated_;
  std::vector<Template> templates_;  // parents before children
  std::vector<std::size_t>
      template_of_job_;  // by place in form_.jobs: that its pods are in, if any
};

inline constexpr std::string_view kShapeAnnotation = "jobset.muster.dev/shape";

// The templates of a stored Workload, its gangs of pods with the minimums of another one with the
// same templates: for a patch of its spec, which replaces each list as a whole.
api::Json resized_templates(const api::Json& stored, const api::Json& wanted);

}  // namespace muster::workload
