#include "cost/work.h"

namespace muster::cost {
namespace {

constinit thread_local Work work;

}  // namespace

Work& work_of_this_thread() { return work; }

}  // namespace muster::cost

// Compilers put a call of __sanitizer_cov_trace_pc at the start of each basic block. libFuzzer
// brings a function of that name itself, so the linker is asked to let the calls end here.
// NOLINTBEGIN: the name is the linker's
extern "C" void __wrap___sanitizer_cov_trace_pc();
extern "C" void __wrap___sanitizer_cov_trace_pc() { ++muster::cost::work.steps; }
// NOLINTEND
