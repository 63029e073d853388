// Joins a rank to its job, and ends the job.
//
// Part of every rank, so it is kept lean: no iostreams, and it touches no page of the segment that it does not need.
// Not thread-safe against itself: one thread joins a rank.
#pragma once

#include <cstddef>
#include <memory>

#include "base/result.hpp"
#include "launch/boot/world.hpp"

namespace heddle::boot {

// Joins the job that the environment names, or makes a singleton if it names none; the rank then counts as initialized.
// A failure: the environment names a job that cannot be joined. In a job the heap's size comes with it.
Result<std::unique_ptr<World>> join(std::size_t singleton_heap_bytes);

// Ends the whole job with `code` as its exit code, and writes `text` to standard error. Null: MPI is not initialized,
// and this ends only the process.
[[noreturn]] void abort(World* world, int code, const char* text);
// Ends this process alone.
[[noreturn]] void end_process(int code, const char* text);

// A text and a line break on standard error, whatever state the process is in.
void write_line(const char* text);

// Before a launcher is asked to end the job: it may drop the output that it has not passed on by then.
void let_launcher_pass_on();

// The exit code of a process for an error code: its low 8 bits, but never 0, which would mean success.
constexpr int exit_code(int code) { return (code & 0xff) != 0 ? code & 0xff : 1; }

}  // namespace heddle::boot
