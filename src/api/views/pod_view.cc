#include "api/views/pod_view.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "api/reading.h"
#include "api/scratch.h"
#include "api/views/pod_templates.h"
#include "api/views/read_strings.h"
#include "api/views/request_sums.h"
#include "api/views/required_features.h"
#include "api/views/tolerations.h"
#include "base/time.h"

namespace muster::api {
namespace {

std::string text(const Json& value, std::string_view member) {
  return std::string(find_string(value, member));
}

// --- selectors ---

NodeSelectorTerm read_term(const Json& term) {
  return {read_requirements(term, "matchExpressions"), read_requirements(term, "matchFields")};
}

void read_node_affinity(const Json& spec, PodNeeds& needs) {
  const Json* affinity = find_path(spec, "affinity.nodeAffinity");
  if (affinity == nullptr) return;
  if (const Json* required = find(*affinity, "requiredDuringSchedulingIgnoredDuringExecution");
      required != nullptr && required->is_object()) {
    needs.has_required = true;
    for (const Json& term : elements(*required, "nodeSelectorTerms"))
      needs.required.push_back(read_term(term));
  }
  for (const Json& entry : elements(*affinity, "preferredDuringSchedulingIgnoredDuringExecution")) {
    const Json* term = find(entry, "preference");
    needs.preferred.push_back({find_integer(entry, "weight").value_or(0),
                               term == nullptr ? NodeSelectorTerm{} : read_term(*term)});
  }
}

// --- containers ---

std::string normalized_image(std::string image) {
  const auto slash = image.rfind('/');
  const auto colon = image.rfind(':');
  if (colon == std::string::npos || (slash != std::string::npos && colon < slash))
    image += ":latest";
  return image;
}

void read_ports(const Json& container, std::vector<HostPort>& ports) {
  for (const Json& entry : elements(container, "ports")) {
    const std::int64_t port = find_integer(entry, "hostPort").value_or(0);
    if (port <= 0) continue;
    HostPort host{text(entry, "hostIP"), text(entry, "protocol"), static_cast<std::int32_t>(port)};
    if (host.ip.empty()) host.ip = "0.0.0.0";
    if (host.protocol.empty()) host.protocol = "TCP";
    ports.push_back(std::move(host));
  }
}

void read_requests(const Json& spec, const Json* status, PodNeeds& needs) {
  const RequestSums sums(spec, status);
  needs.requests = Amounts::of(sums.total({}));
  needs.usage = sums.has_status() ? Amounts::of(sums.total({.with_status = true})) : needs.requests;
  const Amounts score = Amounts::of(sums.total({.with_pod_level = false,
                                                .default_cpu = true,
                                                .default_memory = true,
                                                .only_pod_level_names = true}));
  needs.score_cpu_milli = score.cpu_milli;
  needs.score_memory = score.memory;
  // Of the scalars only huge pages may be requested by the pod as a whole.
  for (const auto& [name, amount] : needs.requests.scalars)
    if (is_pod_level_name(name))
      if (const std::int64_t scored = score.of(name); scored != amount)
        needs.score_huge_pages.emplace_back(name, scored);
  const Amounts nonzero = Amounts::of(sums.nonzero_total());
  needs.nonzero_cpu_milli = nonzero.cpu_milli;
  needs.nonzero_memory = nonzero.memory;
}

void read_containers(const Json& spec, PodTemplate& read) {
  PodNeeds& needs = read.needs;
  std::vector<std::string>& images = read.images;
  const auto read_container = [&](const Json& container, bool keeps_running) {
    if (keeps_running) read_ports(container, needs.host_ports);
    images.push_back(normalized_image(text(container, "image")));
  };
  for (const Json& c : elements(spec, "initContainers")) read_container(c, always_restarts(c));
  for (const Json& c : elements(spec, "containers")) read_container(c, true);
  for (const Json& volume : elements(spec, "volumes")) {
    if (const Json* image = find(volume, "image"))
      images.push_back(normalized_image(text(*image, "reference")));
  }
  std::ranges::sort(images);
  needs.image_count = static_cast<std::int32_t>(images.size());
  std::ranges::sort(needs.host_ports);
}

// --- volumes ---

bool flag(const Json& value, std::string_view member) {
  const Json* found = find(value, member);
  return found != nullptr && found->is_bool() && found->get_bool();
}

void read_disks(const Json& spec, std::vector<InlineDisk>& disks) {
  using Type = InlineDisk::Type;
  for (const Json& volume : elements(spec, "volumes")) {
    if (const Json* gce = find(volume, "gcePersistentDisk"))
      disks.push_back({Type::Gce, text(*gce, "pdName"), {}, flag(*gce, "readOnly")});
    if (const Json* ebs = find(volume, "awsElasticBlockStore"))
      disks.push_back({Type::Ebs, text(*ebs, "volumeID"), {}, flag(*ebs, "readOnly")});
    if (const Json* iscsi = find(volume, "iscsi"))
      disks.push_back({Type::Iscsi, text(*iscsi, "iqn"), {}, flag(*iscsi, "readOnly")});
    if (const Json* rbd = find(volume, "rbd")) {
      const std::string pool = text(*rbd, "pool");
      disks.push_back({Type::Rbd, (pool.empty() ? "rbd" : pool) + "/" + text(*rbd, "image"),
                       read_strings(*rbd, "monitors"), flag(*rbd, "readOnly")});
    }
    if (const Json* azure = find(volume, "azureDisk"))
      disks.push_back({Type::Azure, text(*azure, "diskURI"), {}, flag(*azure, "readOnly")});
    if (const Json* cinder = find(volume, "cinder"))
      disks.push_back({Type::Cinder, text(*cinder, "volumeID"), {}, flag(*cinder, "readOnly")});
  }
  std::ranges::sort(disks);
}

void read_claims(const Json& spec, std::vector<PodClaim>& claims) {
  for (const Json& volume : elements(spec, "volumes")) {
    if (const Json* claim = find(volume, "persistentVolumeClaim"))
      claims.push_back({text(*claim, "claimName"), false});
    else if (find(volume, "ephemeral") != nullptr)
      claims.push_back({text(volume, "name"), true});
  }
}

void read_needs(const Json& spec, const Json* status, PodTemplate& read) {
  PodNeeds& needs = read.needs;
  for (const Json& entry : elements(spec, "tolerations"))
    needs.tolerations.push_back(read_toleration(entry));
  std::ranges::sort(needs.tolerations);
  if (const JsonObject* selector = find_object(spec, "nodeSelector"))
    for (const auto& member : *selector)
      if (member.value().is_string())
        needs.node_selector.emplace_back(member.key(),
                                         std::string_view(member.value().get_string()));
  std::ranges::sort(needs.node_selector);
  read_node_affinity(spec, needs);
  const JsonArray* claims = find_array(spec, "resourceClaims");
  needs.has_claims = claims != nullptr && !claims->empty();
  needs.pod_terms = read_pod_terms(spec);
  needs.spread = read_spread_constraints(spec);
  needs.features = required_features(spec);
  read_containers(spec, read);
  read_disks(spec, needs.disks);
  read_requests(spec, status, needs);
}

// --- hashing ---

// Mixes values into 64 bits; the same on every machine, which std::hash does not promise.
class Mixer {
 public:
  void add(std::uint64_t word) {
    state_ = (std::rotl(state_, 25) ^ word) * 0x9e3779b97f4a7c15ULL;
    state_ ^= state_ >> 32;
  }
  void add(std::string_view bytes) {
    add(bytes.size());
    while (bytes.size() >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data(), 8);
      add(word);
      bytes.remove_prefix(8);
    }
    std::uint64_t rest = 0;
    for (const char c : bytes) rest = (rest << 8) | static_cast<unsigned char>(c);
    add(rest);
  }
  void add(std::int64_t value) { add(static_cast<std::uint64_t>(value)); }
  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3ULL;
};

void mix(Mixer& mixer, const NodeSelectorTerm& term) {
  for (const auto* requirements : {&term.expressions, &term.fields}) {
    mixer.add(requirements->size());
    for (const NodeRequirement& requirement : *requirements) {
      mixer.add(std::string_view(requirement.key));
      mixer.add(static_cast<std::uint64_t>(requirement.op));
      for (const std::string& value : requirement.values) mixer.add(std::string_view(value));
    }
  }
}

void mix(Mixer& mixer, const Amounts& amounts) {
  mixer.add(amounts.cpu_milli);
  mixer.add(amounts.memory);
  mixer.add(amounts.ephemeral_storage);
  for (const auto& [name, amount] : amounts.scalars) {
    mixer.add(std::string_view(name));
    mixer.add(amount);
  }
}

void mix(Mixer& mixer, const PodSelector& selector) {
  mixer.add(std::uint64_t{selector.is_null});
  for (const NodeRequirement& test : selector.tests) {
    mixer.add(std::string_view(test.key));
    mixer.add(static_cast<std::uint64_t>(test.op));
    for (const std::string& value : test.values) mixer.add(std::string_view(value));
  }
}

// What is rare, or seldom the only difference, is left out: equal needs must have equal hashes,
// others may.
void mix_terms(Mixer& mixer, const PodNeeds& needs) {
  for (const PodTerm& term : needs.pod_terms) {
    mixer.add(static_cast<std::uint64_t>(term.role));
    mixer.add(std::string_view(term.topology_key));
    mixer.add(term.weight);
    mix(mixer, term.selector);
    for (const std::string& name : term.namespaces) mixer.add(std::string_view(name));
  }
  for (const SpreadConstraint& constraint : needs.spread) {
    mixer.add(std::string_view(constraint.topology_key));
    mixer.add(std::int64_t{constraint.max_skew});
    mixer.add(std::uint64_t{constraint.is_hard});
    mix(mixer, constraint.selector);
  }
}

std::uint64_t hash_of(const PodNeeds& needs) {
  Mixer mixer;
  for (const Toleration& toleration : needs.tolerations) {
    mixer.add(std::string_view(toleration.key));
    mixer.add(std::string_view(toleration.value));
    mixer.add(std::string_view(toleration.effect));
    mixer.add(static_cast<std::uint64_t>(toleration.op));
  }
  for (const auto& [key, value] : needs.node_selector) {
    mixer.add(std::string_view(key));
    mixer.add(std::string_view(value));
  }
  mixer.add(std::uint64_t{needs.has_required});
  for (const NodeSelectorTerm& term : needs.required) mix(mixer, term);
  for (const PreferredNodeTerm& preferred : needs.preferred) {
    mixer.add(preferred.weight);
    mix(mixer, preferred.term);
  }
  for (const HostPort& port : needs.host_ports) {
    mixer.add(std::string_view(port.ip));
    mixer.add(std::string_view(port.protocol));
    mixer.add(std::int64_t{port.port});
  }
  for (const InlineDisk& disk : needs.disks) {
    mixer.add(static_cast<std::uint64_t>(disk.type));
    mixer.add(std::string_view(disk.id));
    mixer.add(std::uint64_t{disk.read_only});
  }
  mixer.add(std::int64_t{needs.image_count});
  for (const std::string_view feature : needs.features) mixer.add(feature);
  mix_terms(mixer, needs);
  mixer.add(std::uint64_t{needs.has_claims});
  mix(mixer, needs.requests);
  mix(mixer, needs.usage);
  mixer.add(needs.score_cpu_milli);
  mixer.add(needs.score_memory);
  for (const auto& [name, amount] : needs.score_huge_pages) mixer.add(amount);
  mixer.add(needs.nonzero_cpu_milli);
  mixer.add(needs.nonzero_memory);
  return mixer.value();
}

PodTemplate read_template(const Json* spec, const Json* status) {
  PodTemplate read;
  if (spec != nullptr) {
    read.scheduler_name = text(*spec, "schedulerName");
    read_needs(*spec, status, read);
  }
  read.needs_hash = hash_of(read.needs);
  return read;
}

}  // namespace

std::string claim_name(const Object& pod, const PodClaim& claim) {
  return claim.ephemeral ? pod.meta().name + "-" + claim.name : claim.name;
}

NodeSelectorTerm read_node_selector_term(const Json& term) { return read_term(term); }

const Condition* PodView::condition(std::string_view type) const {
  return lookup(conditions, type);
}

std::unique_ptr<PodView> PodView::read(const Object& pod) {
  Scratch scratch;
  return of(members_in(scratch, pod, {"spec", "status"}));
}

std::unique_ptr<PodView> PodView::of(const Json& document, PodTemplates* templates) {
  const Json* spec = find(document, "spec");
  const Json* status = find(document, "status");
  PodTemplate made_from = read_template(spec, status);
  auto view = std::make_unique<PodView>(
      templates == nullptr ? std::make_shared<const PodTemplate>(std::move(made_from))
                           : templates->share(std::move(made_from)));
  if (spec != nullptr) {
    view->node_name = text(*spec, "nodeName");
    view->priority = static_cast<std::int32_t>(find_integer(*spec, "priority").value_or(0));
    view->never_preempts = find_string(*spec, "preemptionPolicy") == "Never";
    for (const Json& gate : elements(*spec, "schedulingGates"))
      view->scheduling_gates.push_back(text(gate, "name"));
    if (const Json* group = find(*spec, "schedulingGroup"))
      view->scheduling_group = text(*group, "podGroupName");
    read_claims(*spec, view->claims);
  }
  if (status != nullptr) {
    view->nominated_node = text(*status, "nominatedNodeName");
    view->phase = text(*status, "phase");
    view->start_time = parse_time(find_string(*status, "startTime"));
  }
  view->conditions = read_conditions(document);
  return view;
}

}  // namespace muster::api
