#include "scheduler/plugins/pod_term_match.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "scheduler/cache/sample_objects.h"
#include "scheduler/cache/term_book.h"

namespace muster::scheduler {
namespace {

// The same by the terms that the scheduler makes of what a pod says.
class ByTerms {
 public:
  explicit ByTerms(const api::Object& pod)
      : terms_(resolve_terms(pod.meta(), pod.view<api::PodView>().needs)) {}

  bool attracts(const api::Object& other) const {
    const auto is_attracting = [](const Term& term) { return term.role == Term::Role::Attracts; };
    return std::ranges::any_of(terms_, is_attracting) &&
           std::ranges::all_of(terms_, [&](const Term& term) {
             return !is_attracting(term) || matches(term, other);
           });
  }
  bool repels(const api::Object& other) const {
    return std::ranges::any_of(terms_, [&](const Term& term) {
      return term.role == Term::Role::Repels && matches(term, other);
    });
  }
  // Constraints of the pods of this test are all strict.
  bool counts(const api::Object& other) const {
    return std::ranges::any_of(terms_, [&](const Term& term) {
      return term.role == Term::Role::Counts && matches(term, other);
    });
  }

 private:
  static bool matches(const Term& term, const api::Object& other) {
    if (term.role == Term::Role::Counts && term.selector.is_empty()) return false;
    const bool is_about =
        term.namespace_selector || std::ranges::count(term.namespaces, other.meta().name_space) > 0;
    return is_about && term.selector.matches(other.meta().labels);
  }
  std::vector<Term> terms_;
};

class PodTerms : public ::testing::Test {
 protected:
  unsigned below(unsigned bound) { return static_cast<unsigned>(random_()) % bound; }
  std::string one_of(const std::vector<std::string>& texts) {
    return texts[below(static_cast<unsigned>(texts.size()))];
  }
  std::map<std::string, std::string> labels() {
    std::map<std::string, std::string> out;
    for (const char* key : {"a", "b", "c"})
      if (below(3) > 0) out[key] = one_of({"1", "2"});
    return out;
  }
  std::string selector() {
    return one_of({"", R"(,"labelSelector":{})", R"(,"labelSelector":{"matchLabels":{"a":"1"}})",
                   R"(,"labelSelector":{"matchExpressions":[{"key":"b","operator":"NotIn",)"
                   R"("values":["1"]},{"key":"a","operator":"Exists"}]})"});
  }
  std::string term() {
    return R"({"topologyKey":"zone")" + selector() +
           one_of({"", R"(,"namespaces":["other"])", R"(,"namespaces":["default","other"])",
                   R"(,"namespaceSelector":{})"}) +
           one_of({"", R"(,"matchLabelKeys":["b"])", R"(,"matchLabelKeys":["b","c"])"}) +
           one_of({"", R"(,"mismatchLabelKeys":["c"])"}) + "}";
  }
  std::string terms() {
    std::string list;
    for (unsigned i = below(4); i > 0; --i) list += (list.empty() ? "" : ",") + term();
    return R"({"requiredDuringSchedulingIgnoredDuringExecution":[)" + list + "]}";
  }
  std::string constraints() {
    std::string list;
    for (unsigned i = below(3); i > 0; --i)
      list += (list.empty() ? "" : ",") +
              (R"({"topologyKey":"zone","maxSkew":1,"whenUnsatisfiable":"DoNotSchedule")" +
               selector() + one_of({"", R"(,"matchLabelKeys":["c"])"}) + "}");
    return "[" + list + "]";
  }
  api::ObjectPtr pod(const std::string& spec = "") {
    return PodSample{
        .name = "p", .spec = spec, .name_space = one_of({"default", "other"}), .labels = labels()}
        .make();
  }

  std::mt19937 random_{11};
};

TEST_F(PodTerms, MeanToHintsWhatTheyMeanToTheScheduler) {
  int yes = 0;
  for (int i = 0; i < 3'000; ++i) {
    const auto asks = pod(R"("affinity":{"podAffinity":)" + terms() + R"(,"podAntiAffinity":)" +
                          terms() + R"(},"topologySpreadConstraints":)" + constraints());
    const OtherPods hints(*asks);
    const ByTerms terms(*asks);
    const auto before = pod();
    const auto after = pod();
    EXPECT_EQ(hints.attracts(*before), terms.attracts(*before));
    EXPECT_EQ(hints.repels(*before), terms.repels(*before));
    EXPECT_EQ(hints.counts(*before), terms.counts(*before));
    if (terms.counts(*before) != terms.counts(*after)) {
      EXPECT_FALSE(hints.counts_alike(*before, *after));
    }
    if (terms.repels(*before) && !terms.repels(*after)) {
      EXPECT_FALSE(hints.repels_all_of(*before, *after));
    }
    EXPECT_TRUE(hints.counts_alike(*before, *before));
    EXPECT_TRUE(hints.repels_all_of(*before, *before));
    yes += terms.attracts(*before) + terms.repels(*before) + terms.counts(*before);
  }
  EXPECT_GT(yes, 1'000);
}

TEST_F(PodTerms, OfMoreThanAreJudgedNoneCounts) {
  std::string list = term();
  for (std::size_t i = 0; i < kTermsMax; ++i)
    list += R"(,{"topologyKey":"zone","labelSelector":{},"namespaceSelector":{}})";
  const auto asks =
      pod(R"("affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[)" +
          list + "]}}");
  EXPECT_FALSE(OtherPods(*asks).repels(*pod()));
}

}  // namespace
}  // namespace muster::scheduler
