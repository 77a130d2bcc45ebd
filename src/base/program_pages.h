#pragma once

namespace muster {

// Gives back the pages of the program and its libraries that are mapped so far: most of them only
// the start needed. Those that are used again are mapped again at their first use, from what the
// system keeps of the file: some hundred page faults in all, and a program that lives for weeks
// stays some megabytes smaller. To be called after the start, not in a loop. Any thread.
void give_back_program_pages();

}  // namespace muster
