// A stream of messages from every thread of a leading rank to its twin in the partner rank: windows of Isend/Irecv closed by
// Waitall, each answered by an empty message. Under message-rate and bandwidth.
#ifndef HEDDLE_BENCH_STREAM_H
#define HEDDLE_BENCH_STREAM_H

#include "bench.h"

// Measures and checks; one round is one window of every thread. Each thread has a tag of its own.
bench_timing stream_measure(bench* b);

// The same with one tag for all threads: whichever posted first receives. The thread that receives the last message of a window answers its
// sender.
bench_timing stream_measure_one_tag(bench* b);

#endif
