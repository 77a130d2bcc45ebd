#pragma once

#include <cstdint>

namespace muster::scheduler {

// Dense row number of a node in the table. Stays with the node while it lives; reused afterwards.
enum class NodeId : std::uint32_t {};
// A resource with columns of its own. The first three are always there. Stays with the resource
// while it has columns; reused afterwards.
enum class ResourceId : std::uint32_t { Cpu, Memory, EphemeralStorage };
// A distinct list of taints, a distinct value of one label key, a cell of the topology, a class of
// pods.
enum class TaintSetId : std::uint32_t {};
enum class LabelValueId : std::uint32_t { Absent };
enum class CellId : std::uint32_t {};
enum class ClassId : std::uint32_t { None = 0xffffffff };
// A question that some class asks about other pods (term_book.h). Never reused.
enum class TermId : std::uint32_t {};
// A container image that some node has. Never reused.
enum class ImageId : std::uint32_t {};

// The number behind an id, to index arrays with.
template <typename Id>
constexpr std::size_t index_of(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace muster::scheduler
