#include "scheduler/refusal_words.h"

#include <utility>

namespace muster::scheduler {

void RefusalWords::add(const GroupKey& root, std::span<const Refusal> refusals, bool with_group) {
  std::erase_if(trees_, [&root](const Tree& tree) { return tree.root == root; });
  if (trees_.empty()) overtaken_.clear();
  Tree& tree = trees_.emplace_back(Tree{.root = root, .words = {}});
  tree.words.reserve(refusals.size());
  std::shared_ptr<const std::string> message;  // most have that of the one before them
  for (const Refusal& refusal : refusals) {
    if (!overtaken_.empty()) overtaken_.erase(refusal.pod->meta().uid);
    if (message == nullptr || *message != refusal.message)
      message = std::make_shared<const std::string>(refusal.message);
    tree.words.push_back({.pod = refusal.pod,
                          .outcome = refusal.outcome,
                          .waits_for = refusal.waits_for,
                          .message = message,
                          .with_group = with_group,
                          .has_event = tree.words.size() < kEventsMax});
  }
}

std::vector<RefusalWords::Word> RefusalWords::next() {
  std::vector<Word> slice;
  for (std::size_t looks = 0; looks < kSlice && !trees_.empty(); ++looks) {
    Tree& tree = trees_.front();
    if (tree.said < tree.words.size()) {
      Word& word = tree.words[tree.said++];
      if (!overtaken_.contains(word.pod->meta().uid)) slice.push_back(std::move(word));
    }
    if (tree.said == tree.words.size()) trees_.pop_front();
  }
  if (trees_.empty()) overtaken_.clear();
  return slice;
}

}  // namespace muster::scheduler
