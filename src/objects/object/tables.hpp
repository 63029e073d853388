// A rank's tables of MPI objects: predefined ones, attribute keys, error codes.
//
// Made with the rank, before any initialization: info objects, error handlers and error codes may be used at any time
// (MPI 5.0, section 11.4.1), and sessions may come and go.
#pragma once

#include <mpi.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/threads/mutex.hpp"
#include "objects/object/allocated_memory.hpp"
#include "objects/object/attribute.hpp"
#include "objects/object/errhandler.hpp"
#include "objects/object/error_table.hpp"
#include "objects/object/fortran_types.hpp"
#include "objects/object/group.hpp"
#include "objects/object/info.hpp"
#include "objects/object/open_objects.hpp"
#include "objects/object/tags.hpp"

namespace heddle {

struct Comm;
struct Datatype;
struct File;
struct Rank;
struct Win;
namespace io {
class OfRank;
}

struct ObjectTables {
  explicit ObjectTables(Rank& rank);
  ~ObjectTables();
  ObjectTables(const ObjectTables&) = delete;
  ObjectTables& operator=(const ObjectTables&) = delete;

  // Predefined objects, alive as long as the rank. Their handles are the standard's constants.
  Errhandler* errors_are_fatal;
  Errhandler* errors_abort;
  Errhandler* errors_return;
  Group* empty_group;

  // Made on first use: reading the machine's and the program's names costs system calls.
  Info& environment_info();

  ErrhandlerSlot initial_errhandler;  // of MPI_COMM_WORLD and MPI_COMM_SELF, and until they exist (section 11.2.1)
  ErrhandlerSlot file_errhandler;     // of MPI_FILE_NULL: what files inherit
  ErrorTable errors;
  KeyvalTable keyvals;
  FortranTypes fortran;
  OpenObjects<Comm> comms;
  OpenObjects<Win> wins;
  OpenObjects<File> files;
  AllocatedMemory allocated;  // by MPI_Alloc_mem
  std::once_flag io_made;
  std::shared_ptr<io::OfRank> io;  // mpi/io/of_rank.hpp

  // Attributes that the program set on a predefined datatype; null if there are none and `make` is false.
  AttributeSet* attributes_of_predefined(const Datatype& datatype, bool make);

  // The name that the program gave to a predefined datatype, if it did.
  void name_predefined(const Datatype& datatype, std::string name);
  std::optional<std::string> name_of_predefined(const Datatype& datatype);

  // Values of the predefined attributes; users hold pointers to them.
  struct Predefined {
    int tag_ub = tag_upper_bound;
    int io = MPI_ANY_SOURCE;
    int host = MPI_PROC_NULL;
    int wtime_is_global = 1;  // one machine, one monotonic clock
    int appnum = 0;
    int universe_size = 1;
  } predefined;

 private:
  Errhandler* chosen_initial_errhandler() const;

  Rank& rank_;
  std::once_flag environment_made_;
  Info environment_;  // here and not in the arena, where a leak checker would not find the references to its strings
  threads::Mutex mutex_;
  std::map<const Datatype*, AttributeSet> datatype_attributes_;  // under mutex_
  std::map<const Datatype*, std::string> datatype_names_;        // under mutex_
};

// To be called once, while a Rank is made.
void prepare_tables(Rank& rank);

// The communicators of the world model, with the handles MPI_COMM_WORLD and MPI_COMM_SELF. The rank's place in the job
// and its VNI are known.
Comm* make_world(Rank& rank);
Comm* make_self(Rank& rank);

// The beginning of MPI_Finalize: deletes the attributes of MPI_COMM_SELF, the last one set first, while everything
// still works (section 11.4.1), then those of MPI_COMM_WORLD. The first error of a delete function is returned; all
// of them are called. When nothing communicates any more, free_world ends both communicators.
Error delete_world_attributes(Rank& rank);
void free_world(Rank& rank);

// After the last finalization: the handles of communicators, windows and files that the program has not freed become
// invalid.
void retire_handles(Rank& rank);

}  // namespace heddle
