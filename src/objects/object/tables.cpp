#include "objects/object/tables.hpp"

#include <string>

#include "launch/boot/job.hpp"
#include "launch/rank/rank.hpp"
#include "launch/rank/settings.hpp"
#include "objects/object/info_env.hpp"

namespace heddle {

namespace {

template <class T, class Handle>
T* make_predefined(Handle handle) {
  T* object = make_object<T>();
  object->handle = reinterpret_cast<std::uintptr_t>(handle);
  return object;
}

Errhandler* make_predefined_errhandler(MPI_Errhandler handle, decltype(Errhandler::action) action) {
  Errhandler* errhandler = make_predefined<Errhandler>(handle);
  errhandler->action = action;
  return errhandler;
}

}  // namespace

ObjectTables::ObjectTables(Rank& rank)
    : errors_are_fatal(make_predefined_errhandler(MPI_ERRORS_ARE_FATAL, Errhandler::Fatal{})),
      errors_abort(make_predefined_errhandler(MPI_ERRORS_ABORT, Errhandler::Abort{})),
      errors_return(make_predefined_errhandler(MPI_ERRORS_RETURN, Errhandler::Return{})),
      empty_group(make_predefined<Group>(MPI_GROUP_EMPTY)),
      rank_(rank) {
  initial_errhandler.set(*chosen_initial_errhandler());
  file_errhandler.set(*errors_return);
}

ObjectTables::~ObjectTables() {
  release(*empty_group);
  for (Errhandler* errhandler : {errors_return, errors_abort, errors_are_fatal}) release(*errhandler);
}

// The values that section 11.8.4 gives to the info key mpi_initial_errhandler; mpiexec's option of that name sets
// this variable.
Errhandler* ObjectTables::chosen_initial_errhandler() const {
  const std::string chosen = setting(boot::initial_errhandler_variable);
  if (chosen == "mpi_errors_return") return errors_return;
  if (chosen == "mpi_errors_abort") return errors_abort;
  return errors_are_fatal;
}

Info& ObjectTables::environment_info() {
  std::call_once(environment_made_, [this] {
    environment_.items = describe_environment(rank_);
    environment_.handle = reinterpret_cast<std::uintptr_t>(MPI_INFO_ENV);
  });
  return environment_;
}

AttributeSet* ObjectTables::attributes_of_predefined(const Datatype& datatype, bool make) {
  std::lock_guard guard(mutex_);
  if (make) return &datatype_attributes_[&datatype];
  const auto found = datatype_attributes_.find(&datatype);
  return found == datatype_attributes_.end() ? nullptr : &found->second;
}

void ObjectTables::name_predefined(const Datatype& datatype, std::string name) {
  std::lock_guard guard(mutex_);
  datatype_names_[&datatype] = std::move(name);
}

std::optional<std::string> ObjectTables::name_of_predefined(const Datatype& datatype) {
  std::lock_guard guard(mutex_);
  const auto found = datatype_names_.find(&datatype);
  return found == datatype_names_.end() ? std::nullopt : std::optional(found->second);
}

void prepare_tables(Rank& rank) { rank.tables = std::make_unique<ObjectTables>(rank); }

}  // namespace heddle
