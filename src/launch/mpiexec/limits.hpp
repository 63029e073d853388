// Time limits, sizes and exit codes of mpiexec.
#pragma once

#include <chrono>
#include <cstddef>

namespace heddle::mpiexec {

// Ending a job.
inline constexpr std::chrono::milliseconds interrupt_grace{1000};  // a program may want to write down what it has
inline constexpr std::chrono::milliseconds end_grace{500};         // from SIGTERM to SIGKILL
inline constexpr std::chrono::milliseconds last_wait{800};   // after SIGKILL, for what the kernel cannot end at once
inline constexpr std::chrono::milliseconds sweep_every{20};  // killing a parent makes its children ours
inline constexpr std::chrono::milliseconds tell_again_every{5};  // while processes of a failed rank have not ended

// Output and input.
inline constexpr std::chrono::milliseconds idle_line{200};       // the beginning of a line waits this long for its end
inline constexpr std::chrono::milliseconds terminal_retry{200};  // until a terminal that is in use is requested again
inline constexpr std::chrono::milliseconds file_retry{10};       // until a file that takes no output is tried again
inline constexpr std::size_t read_bytes = 64 * 1024;
inline constexpr std::size_t longest_partial = 1024 * 1024;  // a longer line is written in parts
inline constexpr std::size_t input_kept = 64 * 1024;

// Ranks that use another MPI: a check takes about 10 microseconds. Most programs initialize MPI within 2 s, if they do.
inline constexpr std::chrono::milliseconds foreign_early{10};
inline constexpr std::chrono::milliseconds foreign_later{100};
inline constexpr std::chrono::seconds time_to_initialize{2};

// Ranks that ended without initializing MPI, until another rank has initialized it.
inline constexpr std::chrono::milliseconds check_again_every{200};

// The thread that answers PMI requests of ranks: its longest turn, except for a fence.
inline constexpr std::chrono::milliseconds longest_turn{200};

// Jobs on several nodes: the coordinator, and the mpiexec of each node.
inline constexpr std::chrono::seconds time_to_come{30};               // for the mpiexec of a node
inline constexpr std::chrono::seconds time_to_prove{5};               // for a connection, that it knows the secret
inline constexpr std::chrono::milliseconds time_to_end{2500};         // for the mpiexec of a node, to end its ranks
inline constexpr std::chrono::milliseconds last_wait_of_nodes{1000};  // after that
inline constexpr std::chrono::milliseconds time_to_connect{10'000};
inline constexpr std::chrono::milliseconds time_to_gather{60'000};  // until all nodes have come
inline constexpr std::chrono::milliseconds time_to_finish{2'000};
inline constexpr std::chrono::milliseconds between_beats{100};  // nodes/beats.hpp
inline constexpr std::chrono::milliseconds connection_timeout{500};
inline constexpr std::chrono::milliseconds time_to_end_ranks{250};

// Ranks have numbers from 0 on; this is the writer of the lines of mpiexec itself.
inline constexpr int mpiexec_itself = -2;

// Exit codes, beside those of ranks.
inline constexpr int exit_code_of_lost_output = 1;
inline constexpr int exit_code_of_usage = 2;
inline constexpr int exit_code_of_timeout = 124;  // that of timeout(1)

}  // namespace heddle::mpiexec
