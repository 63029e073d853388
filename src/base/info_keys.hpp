// Every info key that the library reads, in one table: name, readers, values, default, meaning. docs/reference.md is
// generated from it.
//
// Code names a key as KnownKey, which does not compile for a name that is not in the table. A key without a line here is
// ignored, as the standard says. Keys that the library only sets (those of MPI_INFO_ENV and of MPI_Get_hw_resource_info)
// are not listed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace heddle {

// The readers of a key; a key may have several.
enum class InfoReader : std::uint16_t {
  communicator = 1 << 0,
  split_type = 1 << 1,
  session = 1 << 2,
  window = 1 << 3,
  file = 1 << 4,
  memory = 1 << 5,
  spawn = 1 << 6,
  connect = 1 << 7,
  fortran = 1 << 8,
};
constexpr InfoReader operator|(InfoReader a, InfoReader b) {
  return static_cast<InfoReader>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

struct InfoCalls {
  InfoReader reader;
  std::string_view name;
  std::string_view calls;
};

inline constexpr std::array info_calls{
    InfoCalls{InfoReader::communicator, "communicator",
              "MPI_Comm_dup_with_info, MPI_Comm_idup_with_info, MPI_Comm_set_info, MPI_Comm_split_type, "
              "MPI_Comm_create_from_group, MPI_Intercomm_create_from_groups"},
    InfoCalls{InfoReader::split_type, "split type", "MPI_Comm_split_type"},
    InfoCalls{InfoReader::session, "session", "MPI_Session_init"},
    InfoCalls{InfoReader::window, "window",
              "MPI_Win_create, MPI_Win_allocate, MPI_Win_allocate_shared, MPI_Win_create_dynamic, MPI_Win_set_info"},
    InfoCalls{InfoReader::file, "file", "MPI_File_open, MPI_File_set_view, MPI_File_set_info"},
    InfoCalls{InfoReader::memory, "memory", "MPI_Alloc_mem"},
    InfoCalls{InfoReader::spawn, "spawn", "MPI_Comm_spawn, MPI_Comm_spawn_multiple"},
    InfoCalls{InfoReader::connect, "connect", "MPI_Comm_connect"},
    InfoCalls{InfoReader::fortran, "Fortran", "MPI_Abi_set_fortran_info"},
};

struct InfoKey {
  std::string_view name;
  InfoReader readers;
  std::string_view values;      // words with bars between them, or in capitals what stands for any text
  std::string_view by_default;  // what holds without the key
  std::string_view help;        // one sentence, without a full stop

  constexpr bool is_read_by(InfoReader reader) const {
    return (static_cast<unsigned>(readers) & static_cast<unsigned>(reader)) != 0;
  }
  // True if the value is one of the words, or if there are no words to choose from.
  constexpr bool allows(std::string_view value) const {
    if (std::any_of(values.begin(), values.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) return true;
    for (std::string_view left = values;;) {
      const std::size_t bar = left.find('|');
      if (left.substr(0, bar) == value) return true;
      if (bar == std::string_view::npos) return false;
      left.remove_prefix(bar + 1);
    }
  }
};

inline constexpr std::array info_keys{
    InfoKey{"heddle_model", InfoReader::communicator | InfoReader::session, "PRESET[,PART=CHOICE...]",
            "the model of the session, else HEDDLE_MODEL",
            "Safety model of the communicator, or of the communicators that are made from the session's groups"},
    InfoKey{"mpi_assert_no_any_tag", InfoReader::communicator, "true|false", "false",
            "Promise not to receive with MPI_ANY_TAG: messages are spread over VNIs by tag"},
    InfoKey{"mpi_assert_no_any_source", InfoReader::communicator, "true|false", "false",
            "Promise not to receive with MPI_ANY_SOURCE: messages are spread over VNIs by source"},
    InfoKey{"mpi_assert_exact_length", InfoReader::communicator, "true|false", "false",
            "Promise that a message is as long as its receive buffer; stored, without effect"},
    InfoKey{"mpi_assert_allow_overtaking", InfoReader::communicator, "true|false", "false",
            "Permission to match messages out of order; stored, without effect"},
    InfoKey{"mpi_assert_strict_persistent_collective_ordering", InfoReader::communicator, "true|false", "false",
            "Promise to start persistent collectives in one order; stored, without effect"},
    InfoKey{"mpi_assert_memory_alloc_kinds", InfoReader::communicator | InfoReader::window | InfoReader::file,
            "KIND[,KIND...]", "", "Kinds of memory that buffers are in; stored, without effect"},

    InfoKey{
        "mpi_hw_resource_type", InfoReader::split_type, "TYPE", "",
        "Hardware to split by, for MPI_COMM_TYPE_HW_GUIDED and MPI_COMM_TYPE_RESOURCE_GUIDED: mpi_shared_memory or a "
        "key of MPI_Get_hw_resource_info; MPI_COMM_TYPE_HW_UNGUIDED sets it"},
    InfoKey{"mpi_pset_name", InfoReader::split_type, "mpi://WORLD|mpi://SELF", "",
            "Process set to split by, for MPI_COMM_TYPE_RESOURCE_GUIDED"},

    InfoKey{"thread_level", InfoReader::session,
            "MPI_THREAD_SINGLE|MPI_THREAD_FUNNELED|MPI_THREAD_SERIALIZED|MPI_THREAD_MULTIPLE", "",
            "Level of thread support that the session needs at least"},

    InfoKey{"no_locks", InfoReader::window, "true|false", "false",
            "Promise not to use passive target synchronization; stored, without effect"},
    InfoKey{"accumulate_ordering", InfoReader::window, "none|rar,raw,war,waw", "rar,raw,war,waw",
            "Order of accumulate operations that the program relies on; stored, without effect"},
    InfoKey{"accumulate_ops", InfoReader::window, "same_op|same_op_no_op", "same_op_no_op",
            "Operations that are used at the same time on one location; stored, without effect"},
    InfoKey{"mpi_accumulate_granularity", InfoReader::window, "BYTES", "0",
            "Smallest unit of memory that accumulate operations use; stored, without effect"},
    InfoKey{"same_size", InfoReader::window, "true|false", "false",
            "Promise that all processes give the same size; stored, without effect"},
    InfoKey{"same_disp_unit", InfoReader::window, "true|false", "false",
            "Promise that all processes give the same displacement unit; stored, without effect"},
    InfoKey{
        "alloc_shared_noncontig", InfoReader::window, "true|false", "false",
        "Permission for gaps between the processes' parts of MPI_Win_allocate_shared, each of which then begins at a "
        "page"},

    InfoKey{"cb_nodes", InfoReader::file, "NUMBER", "four on each node", "Aggregators of a collective access"},
    InfoKey{"io_ompio_num_aggregators", InfoReader::file, "NUMBER", "", "The same as cb_nodes"},
    InfoKey{"cb_config_list", InfoReader::file, "*:N", "", "Aggregators on each node, at most"},
    InfoKey{"cb_buffer_size", InfoReader::file, "BYTES", "4194304",
            "Bytes of the file that an aggregator handles at a time, 4096 to 1 GiB"},
    InfoKey{"io_ompio_bytes_per_agg", InfoReader::file, "BYTES", "", "The same as cb_buffer_size"},
    InfoKey{"ind_rd_buffer_size", InfoReader::file, "BYTES", "1048576",
            "Bytes that data sieving reads at a time, 4096 to 1 GiB"},
    InfoKey{"ind_wr_buffer_size", InfoReader::file, "BYTES", "524288",
            "Bytes that data sieving writes at a time, 4096 to 1 GiB"},
    InfoKey{"striping_unit", InfoReader::file, "BYTES", "a page",
            "Boundary in the file at whose multiples the aggregators' parts begin"},
    InfoKey{"romio_cb_read", InfoReader::file, "automatic|enable|disable", "automatic",
            "Do collective reads through aggregators"},
    InfoKey{"romio_cb_write", InfoReader::file, "automatic|enable|disable", "automatic",
            "Do collective writes through aggregators"},
    InfoKey{"collective_buffering", InfoReader::file, "automatic|true|false", "automatic",
            "The same as romio_cb_read and romio_cb_write together"},
    InfoKey{"romio_ds_read", InfoReader::file, "automatic|enable|disable", "automatic",
            "Use data sieving for reads of many short pieces"},
    InfoKey{"romio_ds_write", InfoReader::file, "automatic|enable|disable", "automatic",
            "Use data sieving for writes of many short pieces"},
    InfoKey{"access_style", InfoReader::file, "STYLE[,STYLE...]", "", "Pattern of access; stored, without effect"},
    InfoKey{"striping_factor", InfoReader::file, "NUMBER", "", "Devices to stripe over; stored, without effect"},
    InfoKey{"filename", InfoReader::file, "FILE", "", "Name of the file; stored, without effect"},
    InfoKey{"file_perm", InfoReader::file, "OCTAL", "", "Permissions of a new file; stored, without effect"},

    InfoKey{"mpi_minimum_memory_alignment", InfoReader::memory, "BYTES", "64",
            "Alignment of the memory, a power of two"},

    InfoKey{"host", InfoReader::spawn, "HOST[,HOST...]", "the caller's host", "Hosts to start the program on"},
    InfoKey{"wdir", InfoReader::spawn, "DIR", "the caller's directory", "Working directory of the program"},
    InfoKey{"path", InfoReader::spawn, "DIR[:DIR...]", "",
            "Directories to search for the program before those of PATH"},
    InfoKey{"soft", InfoReader::spawn, "N[:M[:STEP]][,...]", "maxprocs",
            "Numbers of processes that will do; the largest that is not above maxprocs is started"},
    InfoKey{"mpi_initial_errhandler", InfoReader::spawn, "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return",
            "mpi_errors_are_fatal", "Error handler that the new processes' communicators begin with"},

    InfoKey{"timeout", InfoReader::connect, "SECONDS", "180", "Time to wait for MPI_Comm_accept"},

    InfoKey{"mpi_logical_size", InfoReader::fortran, "BYTES", "4", "Size of LOGICAL; others than the default fail"},
    InfoKey{"mpi_integer_size", InfoReader::fortran, "BYTES", "4", "Size of INTEGER; others than the default fail"},
    InfoKey{"mpi_real_size", InfoReader::fortran, "BYTES", "4", "Size of REAL; others than the default fail"},
    InfoKey{"mpi_double_precision_size", InfoReader::fortran, "BYTES", "8",
            "Size of DOUBLE PRECISION; others than the default fail"},
};

// Null: the table has no such key.
constexpr const InfoKey* find_info_key(std::string_view name) {
  const auto found = std::ranges::find(info_keys, name, &InfoKey::name);
  return found == info_keys.end() ? nullptr : &*found;
}

// The name of a key of the table.
class KnownKey {
 public:
  consteval KnownKey(const char* name) : name_(find_info_key(name)->name) {}
  constexpr operator std::string_view() const { return name_; }
  constexpr std::string_view name() const { return name_; }
  friend constexpr bool operator==(std::string_view name, KnownKey key) { return name == key.name_; }

 private:
  std::string_view name_;
};

}  // namespace heddle
