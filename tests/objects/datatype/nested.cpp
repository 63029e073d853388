// Datatypes that are nested in each other deeper than a stack bears: the call that goes too far is refused, and what is there works, also on the small
// stack of a thread.
#include <pthread.h>

#include <functional>
#include <string>
#include <vector>

#include "mpi/check.hpp"

namespace {

using test::check;
using test::equal;

using Nest = std::function<int(MPI_Datatype, MPI_Datatype*)>;
struct Constructor {
  const char* name;
  Nest nest;
};

const std::vector<Constructor>& constructors() {
  static const int one = 1, zero = 0;
  static const MPI_Aint no_displacement = 0;
  static const std::vector<Constructor> all{
      {"dup", [](MPI_Datatype old, MPI_Datatype* made) { return MPI_Type_dup(old, made); }},
      {"contiguous", [](MPI_Datatype old, MPI_Datatype* made) { return MPI_Type_contiguous(1, old, made); }},
      {"vector", [](MPI_Datatype old, MPI_Datatype* made) { return MPI_Type_vector(1, 1, 1, old, made); }},
      {"indexed", [](MPI_Datatype old, MPI_Datatype* made) { return MPI_Type_indexed(1, &one, &zero, old, made); }},
      {"resized", [](MPI_Datatype old, MPI_Datatype* made) { return MPI_Type_create_resized(old, 0, 8, made); }},
      {"struct", [](MPI_Datatype old,
                    MPI_Datatype* made) { return MPI_Type_create_struct(1, &one, &no_displacement, &old, made); }},
      {"subarray", [](MPI_Datatype old, MPI_Datatype* made) {
         return MPI_Type_create_subarray(1, &one, &one, &zero, MPI_ORDER_C, old, made);
       }}};
  return all;
}

void use(MPI_Datatype type, const char* name) {
  MPI_Type_commit(&type);
  const int sent[2] = {42, 0};
  int received[2] = {0, 0}, external[2] = {0, 0};
  MPI_Sendrecv(sent, 1, type, 0, 0, received, 1, type, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  equal(received[0], 42, name);
  char packed[16];
  MPI_Aint position = 0;
  MPI_Pack_external("external32", sent, 1, type, packed, sizeof packed, &position);
  position = 0;
  MPI_Unpack_external("external32", packed, sizeof packed, &position, external, 1, type);
  equal(external[0], 42, name);
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  equal(types, 1, "datatypes in the envelope");
  std::vector<int> i(static_cast<std::size_t>(integers));
  std::vector<MPI_Aint> a(static_cast<std::size_t>(addresses));
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  MPI_Type_get_contents(type, integers, addresses, 1, i.data(), a.data(), &inner);
  MPI_Type_free(&inner);
}

void nest(const Constructor& constructor) {
  constexpr int most = 200'000, least = 50;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(1, MPI_INT, &type);
  int levels = 1, code = MPI_SUCCESS;
  for (; levels < most; ++levels) {
    MPI_Datatype next = MPI_DATATYPE_NULL;
    code = constructor.nest(type, &next);
    if (code != MPI_SUCCESS) break;
    MPI_Type_free(&type);
    type = next;
  }
  int error_class = MPI_SUCCESS;
  MPI_Error_class(code, &error_class);
  check(error_class == MPI_SUCCESS || error_class == MPI_ERR_UNSUPPORTED_OPERATION, constructor.name);
  check(levels >= least, "enough levels are supported");
  use(type, constructor.name);
  MPI_Type_free(&type);
}

void* nest_all(void*) {
  for (const Constructor& constructor : constructors()) nest(constructor);
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF}) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, std::size_t{512} << 10);
  pthread_t thread;
  check(pthread_create(&thread, &attributes, nest_all, nullptr) == 0, "a thread is made");
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  MPI_Finalize();
}
