#include "objects/object/error_class.hpp"

#include <mpi-ext.h>
#include <mpi.h>

#include <cstddef>
#include <iterator>

namespace heddle {

namespace {

// By value; the standard's classes are dense.
constexpr ErrorClass classes[] = {
    {"MPI_SUCCESS", "No error"},
    {"MPI_ERR_BUFFER", "Invalid buffer pointer"},
    {"MPI_ERR_COUNT", "Invalid count"},
    {"MPI_ERR_TYPE", "Invalid datatype"},
    {"MPI_ERR_TAG", "Invalid tag"},
    {"MPI_ERR_COMM", "Invalid communicator"},
    {"MPI_ERR_RANK", "Invalid rank"},
    {"MPI_ERR_REQUEST", "Invalid request"},
    {"MPI_ERR_ROOT", "Invalid root"},
    {"MPI_ERR_GROUP", "Invalid group"},
    {"MPI_ERR_OP", "Invalid operation"},
    {"MPI_ERR_TOPOLOGY", "Invalid process topology"},
    {"MPI_ERR_DIMS", "Invalid dimensions"},
    {"MPI_ERR_ARG", "Invalid argument of some other kind"},
    {"MPI_ERR_UNKNOWN", "Unknown error"},
    {"MPI_ERR_TRUNCATE", "Message truncated on receive"},
    {"MPI_ERR_OTHER", "Known error that is not in this list"},
    {"MPI_ERR_INTERN", "Internal error of the MPI library"},
    {"MPI_ERR_PENDING", "Request is pending: neither complete nor in error"},
    {"MPI_ERR_IN_STATUS", "Error code is in the status"},
    {"MPI_ERR_ACCESS", "Permission denied"},
    {"MPI_ERR_AMODE", "Invalid access mode of a file"},
    {"MPI_ERR_ASSERT", "Invalid assertion"},
    {"MPI_ERR_BAD_FILE", "Invalid file name"},
    {"MPI_ERR_BASE", "Invalid base address"},
    {"MPI_ERR_CONVERSION", "Error in a user-defined data conversion function"},
    {"MPI_ERR_DISP", "Invalid displacement"},
    {"MPI_ERR_DUP_DATAREP", "Data representation is already defined"},
    {"MPI_ERR_FILE_EXISTS", "File exists"},
    {"MPI_ERR_FILE_IN_USE", "File is in use by some process"},
    {"MPI_ERR_FILE", "Invalid file handle"},
    {"MPI_ERR_INFO_KEY", "Info key is too long, or empty"},
    {"MPI_ERR_INFO_NOKEY", "Info key is not defined"},
    {"MPI_ERR_INFO_VALUE", "Info value is too long, or empty"},
    {"MPI_ERR_INFO", "Invalid info object"},
    {"MPI_ERR_IO", "Input or output error"},
    {"MPI_ERR_KEYVAL", "Invalid attribute key"},
    {"MPI_ERR_LOCKTYPE", "Invalid lock type"},
    {"MPI_ERR_NAME", "Service name is not published"},
    {"MPI_ERR_NO_MEM", "Out of memory"},
    {"MPI_ERR_NOT_SAME", "Collective argument is not the same on all processes"},
    {"MPI_ERR_NO_SPACE", "Not enough space in the file system"},
    {"MPI_ERR_NO_SUCH_FILE", "File does not exist"},
    {"MPI_ERR_PORT", "Invalid port name"},
    {"MPI_ERR_QUOTA", "Quota exceeded"},
    {"MPI_ERR_READ_ONLY", "File or file system is read-only"},
    {"MPI_ERR_RMA_ATTACH", "Memory cannot be attached to the window"},
    {"MPI_ERR_RMA_CONFLICT", "Conflicting accesses to the window"},
    {"MPI_ERR_RMA_RANGE", "Target memory is not part of the window"},
    {"MPI_ERR_RMA_SHARED", "Memory cannot be shared"},
    {"MPI_ERR_RMA_SYNC", "Wrong synchronization of remote memory accesses"},
    {"MPI_ERR_SERVICE", "Service name cannot be unpublished"},
    {"MPI_ERR_SIZE", "Invalid size"},
    {"MPI_ERR_SPAWN", "Processes could not be started"},
    {"MPI_ERR_UNSUPPORTED_DATAREP", "Data representation is not supported"},
    {"MPI_ERR_UNSUPPORTED_OPERATION", "Operation is not supported"},
    {"MPI_ERR_WIN", "Invalid window"},
    {"MPI_ERR_RMA_FLAVOR", "Window has the wrong flavor"},
    {"MPI_ERR_PROC_ABORTED", "A process of the operation has aborted"},
    {"MPI_ERR_VALUE_TOO_LARGE", "Value does not fit into its variable"},
    {"MPI_ERR_SESSION", "Invalid session"},
    {"MPI_ERR_ERRHANDLER", "Invalid error handler"},
    {"MPI_ERR_ABI", "The standard ABI does not support this"},
};
static_assert(std::size(classes) == MPI_ERR_ABI + 1);

constexpr ErrorClass tool_classes[] = {
    {"MPI_T_ERR_CANNOT_INIT", "The tool interface cannot be initialized"},
    {"MPI_T_ERR_NOT_ACCESSIBLE", "The requested functionality is not accessible"},
    {"MPI_T_ERR_NOT_INITIALIZED", "The tool interface is not initialized"},
    {"MPI_T_ERR_NOT_SUPPORTED", "The requested functionality is not supported"},
    {"MPI_T_ERR_MEMORY", "Out of memory"},
    {"MPI_T_ERR_INVALID", "Invalid use of the tool interface, or bad argument"},
    {"MPI_T_ERR_INVALID_INDEX", "Invalid index"},
    {"MPI_T_ERR_INVALID_ITEM", "Item index is out of range"},
    {"MPI_T_ERR_INVALID_SESSION", "Invalid performance session"},
    {"MPI_T_ERR_INVALID_HANDLE", "Invalid handle"},
    {"MPI_T_ERR_INVALID_NAME", "Invalid name"},
    {"MPI_T_ERR_OUT_OF_HANDLES", "No more handles are available"},
    {"MPI_T_ERR_OUT_OF_SESSIONS", "No more performance sessions are available"},
    {"MPI_T_ERR_CVAR_SET_NOT_NOW", "The control variable cannot be set at this moment"},
    {"MPI_T_ERR_CVAR_SET_NEVER", "The control variable cannot be set until the end of the execution"},
    {"MPI_T_ERR_PVAR_NO_WRITE", "The performance variable cannot be written or reset"},
    {"MPI_T_ERR_PVAR_NO_STARTSTOP", "The performance variable cannot be started or stopped"},
    {"MPI_T_ERR_PVAR_NO_ATOMIC", "The performance variable cannot be read and written atomically"},
};
static_assert(std::size(tool_classes) == MPI_T_ERR_PVAR_NO_ATOMIC - MPI_T_ERR_CANNOT_INIT + 1);

constexpr ErrorClass extension_classes[] = {
    {"MPIX_ERR_PROC_FAILED", "A process of the operation has failed"},
    {"MPIX_ERR_PROC_FAILED_PENDING", "A process that may have been the sender has failed; the receive is pending"},
    {"MPIX_ERR_REVOKED", "The communicator was revoked"},
};
static_assert(std::size(extension_classes) == MPIX_ERR_REVOKED - MPIX_ERR_PROC_FAILED + 1);

}  // namespace

const ErrorClass* standard_error_class(int code) {
  if (code >= 0 && code < static_cast<int>(std::size(classes))) return &classes[code];
  const int tool = code - MPI_T_ERR_CANNOT_INIT;
  if (tool >= 0 && tool < static_cast<int>(std::size(tool_classes))) return &tool_classes[tool];
  const int extension = code - MPIX_ERR_PROC_FAILED;
  if (extension >= 0 && extension < static_cast<int>(std::size(extension_classes)))
    return &extension_classes[extension];
  return nullptr;
}

}  // namespace heddle
