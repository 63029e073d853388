// MPI_T_event_* and MPI_T_source_* (MPI 5.0, section 15.3.8). The library raises no events and so has no sources of them:
// there is no valid index, name, registration or instance.
#include "mpi/tool/interface.hpp"
#include "objects/binding/impl.hpp"

namespace heddle::mpi {

namespace {

Error answer(int code) {
  return tool::call([=](tool::Interface&) { return Error(code); });
}

Error none(int* number) {
  return tool::call([=](tool::Interface&) {
    if (number == nullptr) return Error(MPI_T_ERR_INVALID);
    *number = 0;
    return success;
  });
}

}  // namespace

Error T_event_get_num(int* num_events) { return none(num_events); }
Error T_source_get_num(int* num_sources) { return none(num_sources); }

Error T_event_get_index(const char* name, int* event_index) {
  return answer(name == nullptr || event_index == nullptr ? MPI_T_ERR_INVALID : MPI_T_ERR_INVALID_NAME);
}

Error T_event_get_info(int, char*, int*, int*, MPI_Datatype[], MPI_Aint[], int*, MPI_T_enum*, MPI_Info*, char*, int*,
                       int*) {
  return answer(MPI_T_ERR_INVALID_INDEX);
}
Error T_event_handle_alloc(int, void*, MPI_Info, MPI_T_event_registration*) { return answer(MPI_T_ERR_INVALID_INDEX); }
Error T_source_get_info(int, char*, int*, char*, int*, MPI_T_source_order*, MPI_Count*, MPI_Count*, MPI_Info*) {
  return answer(MPI_T_ERR_INVALID_INDEX);
}
Error T_source_get_timestamp(int, MPI_Count*) { return answer(MPI_T_ERR_INVALID_INDEX); }

Error T_event_handle_free(MPI_T_event_registration, void*, MPI_T_event_free_cb_function) {
  return answer(MPI_T_ERR_INVALID_HANDLE);
}
Error T_event_handle_get_info(MPI_T_event_registration, MPI_Info*) { return answer(MPI_T_ERR_INVALID_HANDLE); }
Error T_event_handle_set_info(MPI_T_event_registration, MPI_Info) { return answer(MPI_T_ERR_INVALID_HANDLE); }
Error T_event_callback_get_info(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info*) {
  return answer(MPI_T_ERR_INVALID_HANDLE);
}
Error T_event_callback_set_info(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info) {
  return answer(MPI_T_ERR_INVALID_HANDLE);
}
Error T_event_register_callback(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info, void*, MPI_T_event_cb_function) {
  return answer(MPI_T_ERR_INVALID_HANDLE);
}
Error T_event_set_dropped_handler(MPI_T_event_registration, MPI_T_event_dropped_cb_function) {
  return answer(MPI_T_ERR_INVALID_HANDLE);
}

Error T_event_read(MPI_T_event_instance, int, void*) { return answer(MPI_T_ERR_INVALID_HANDLE); }
Error T_event_copy(MPI_T_event_instance, void*) { return answer(MPI_T_ERR_INVALID_HANDLE); }
Error T_event_get_timestamp(MPI_T_event_instance, MPI_Count*) { return answer(MPI_T_ERR_INVALID_HANDLE); }
Error T_event_get_source(MPI_T_event_instance, int*) { return answer(MPI_T_ERR_INVALID_HANDLE); }

}  // namespace heddle::mpi
