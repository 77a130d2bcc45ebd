#pragma once

namespace muster {

// Releases the mapped pages of the program and its libraries: most of them were needed only at the
// start. Pages that are used again come back from the page cache, at the cost of some hundred page
// faults in all, and a program that runs for weeks stays some megabytes smaller. Call it once after
// the start, not in a loop. Any thread.
void release_program_pages();

}  // namespace muster
