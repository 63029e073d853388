// Instructions in virtual time, for programs that are compiled for the simulator.
#pragma once

extern "C" {
void heddle_simulated_pause();
unsigned long heddle_simulated_ticks();  // the time-stamp counter
void heddle_simulated_prefetch(const void* line);
void heddle_simulated_prefetch_for_write(const void* line);
}
