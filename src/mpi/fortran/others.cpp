// Procedures of calls.hpp that belong to no group.
#include "mpi/fortran/arguments.hpp"
#include "mpi/fortran/calls.hpp"

namespace heddle::fortran::calls {
namespace {

// A string that C returns with its length, whose end C counts and Fortran does not. `length`: as Fortran passes it,
// room that the caller asks for; becomes the length of the whole string. `ask(C's length, buffer)`; `found`: true if
// there is a string.
template <class Ask>
int ask_string(Fint* length, char* to, std::size_t to_length, const int& found, Ask ask) {
  const int room = to_int(*length) < static_cast<int>(to_length) ? to_int(*length) : static_cast<int>(to_length);
  int c_length = room > 0 ? room + 1 : 0;
  Array<char> text(c_length + 1);
  text[0] = '\0';
  const int code = ask(&c_length, text.data());
  if (code != MPI_SUCCESS || !found) return code;
  *length = c_length > 0 ? c_length - 1 : 0;
  if (room <= 0) return code;
  const std::size_t size = strnlen(text.data(), static_cast<std::size_t>(room));
  std::memcpy(to, text.data(), size);
  std::memset(to + size, ' ', to_length - size);
  return code;
}

template <class Detach>
void detach(Fint* size, Fint* ierror, Detach detach) {
  void* buffer = nullptr;  // the address would be of no use in a Fortran that has no C_PTR
  MPI_Count bytes = 0;
  const int code = detach(&buffer, &bytes);
  if (code == MPI_SUCCESS) *size = static_cast<Fint>(bytes);
  give(ierror, code);
}

}  // namespace

void info_get_string(const Fint* info, const char* key, Fint* buflen, char* value, Fint* flag, Fint* ierror,
                     std::size_t key_length, std::size_t value_length) {
  int found = 0;
  const int code = ask_string(buflen, value, value_length, found, [&](int* length, char* text) {
    return MPI_Info_get_string(handle<MPI_Info>(*info), Word(key, key_length), length, text, &found);
  });
  if (code == MPI_SUCCESS) *flag = found ? logical_true : logical_false;
  give(ierror, code);
}

void session_get_nth_pset(const Fint* session, const Fint* info, const Fint* n, Fint* pset_len, char* pset_name,
                          Fint* ierror, std::size_t length) {
  constexpr int found = 1;
  give(ierror, ask_string(pset_len, pset_name, length, found, [&](int* c_length, char* text) {
         return MPI_Session_get_nth_pset(handle<MPI_Session>(*session), handle<MPI_Info>(*info), integer(n), c_length,
                                         text);
       }));
}

void buffer_detach(void*, Fint* size, Fint* ierror) { detach(size, ierror, MPI_Buffer_detach_c); }

void comm_detach_buffer(const Fint* comm, void*, Fint* size, Fint* ierror) {
  detach(size, ierror,
         [&](void* at, MPI_Count* bytes) { return MPI_Comm_detach_buffer_c(handle<MPI_Comm>(*comm), at, bytes); });
}

void session_detach_buffer(const Fint* session, void*, Fint* size, Fint* ierror) {
  detach(size, ierror, [&](void* at, MPI_Count* bytes) {
    return MPI_Session_detach_buffer_c(handle<MPI_Session>(*session), at, bytes);
  });
}

void status_f2f08(const Fint* f_status, Fint* f08_status, Fint* ierror) {
  std::memmove(f08_status, f_status, status_size * sizeof(Fint));
  give(ierror, MPI_SUCCESS);
}

void status_f082f(const Fint* f08_status, Fint* f_status, Fint* ierror) { status_f2f08(f08_status, f_status, ierror); }

}  // namespace heddle::fortran::calls
