#include "scheduler/plugins/image_locality.h"

#include <algorithm>

namespace muster::scheduler {
namespace {

constexpr std::int64_t kMi = std::int64_t{1024} * 1024;
constexpr std::int64_t kLeast = 23 * kMi;               // below: not worth a difference
constexpr std::int64_t kMostPerContainer = 1000 * kMi;  // above: no further difference

class ImagePass final : public ScorePass {
 public:
  ImagePass(const PodClass& pods, const Cluster& cluster) : pods_(pods), cluster_(cluster) {
    refresh();
  }

  Form form() const override { return Form::Local; }
  // Where else an image is changes what it is worth.
  bool is_outdated() const override { return seen_ != changes(); }
  void refresh() override {
    if (!worths_.empty() && !is_outdated() && nodes_ == cluster_.node_count()) return;
    seen_ = changes();
    nodes_ = cluster_.node_count();
    worths_.clear();
    for (const ImageId id : pods_.images) worths_.push_back(worth_of(cluster_.find_image(id)));
  }
  std::int64_t local(NodeId node) const override {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < worths_.size(); ++i)
      if (const Cluster::Image* image = cluster_.find_image(pods_.images[i]);
          image != nullptr && std::ranges::binary_search(image->nodes, node))
        sum += worths_[i];
    return score_of(sum);
  }
  void add_local(std::int64_t weight, Column<std::int32_t>& totals) const override {
    Column<std::int64_t> sums;
    sums.resize(cluster_.rows());
    for (std::size_t i = 0; i < worths_.size(); ++i)
      if (const Cluster::Image* image = cluster_.find_image(pods_.images[i]))
        for (const NodeId node : image->nodes) sums[node] += worths_[i];
    for (std::size_t row = 0; row < cluster_.rows(); ++row)
      if (sums.data()[row] != 0)
        totals.data()[row] += static_cast<std::int32_t>(weight * score_of(sums.data()[row]));
  }

 private:
  std::uint64_t changes() const {
    std::uint64_t latest = 0;
    for (const ImageId id : pods_.images)
      if (const Cluster::Image* image = cluster_.find_image(id))
        latest = std::max(latest, image->changed);
    return latest;
  }
  std::int64_t worth_of(const Cluster::Image* image) const {
    if (image == nullptr) return 0;
    const double spread = static_cast<double>(image->nodes.size()) / static_cast<double>(nodes_);
    return static_cast<std::int64_t>(static_cast<double>(image->size) * spread);
  }
  std::int64_t score_of(std::int64_t sum) const {
    const std::int64_t most = kMostPerContainer * pods_.needs->image_count;
    return 100 * (std::clamp(sum, kLeast, most) - kLeast) / (most - kLeast);
  }

  const PodClass& pods_;
  const Cluster& cluster_;
  std::uint64_t seen_ = 0;
  std::size_t nodes_ = 0;
  std::vector<std::int64_t> worths_;  // by image
};

}  // namespace

std::unique_ptr<ScorePass> ImageLocality::prepare_score(const PodClass& pods,
                                                        const Cluster& cluster) const {
  if (pods.images.empty()) return nullptr;
  return std::make_unique<ImagePass>(pods, cluster);
}

}  // namespace muster::scheduler
