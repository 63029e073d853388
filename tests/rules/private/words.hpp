// A test's input with one finding of each kind that rules.words must report.
#pragma once

// Whoever holds
// the lock polls. Of the others each sleeps.
inline const char* text = "the library can't be had";
inline bool is_crowded = false;  // Is it? Whether so: no finding, "crowded" and what is asked?
