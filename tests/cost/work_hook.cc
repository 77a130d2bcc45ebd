#include "cost/work.h"

namespace muster::cost {
namespace {

constinit thread_local Work work;

}  // namespace

Work& work_of_this_thread() { return work; }

}  // namespace muster::cost

// Called by the compiler at the start of each basic block.
extern "C" void __sanitizer_cov_trace_pc();  // NOLINT: the compiler's name
extern "C" void __sanitizer_cov_trace_pc() { ++muster::cost::work.steps; }
