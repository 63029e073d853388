// Pack and unpack by hand (MPI 5.0, sections 5.2, 5.3), and addresses (section 5.1.5).
//
// The packed form is the bytes in the order of the type map, with nothing before or between.
#include <cstring>

#include "objects/binding/impl.hpp"
#include "objects/datatype/datatype.hpp"
#include "objects/datatype/external.hpp"

namespace heddle::mpi {
namespace {

// The place of `count` elements of `size` bytes in a packed buffer of `capacity` bytes.
struct Place {
  MPI_Count begin = 0, end = 0;
};

Error packed_bytes(MPI_Count count, MPI_Count size, MPI_Count& bytes) {
  if (!__builtin_mul_overflow(count, size, &bytes)) return success;
  return fail(MPI_ERR_COUNT, "%lld elements of %lld bytes are more than an MPI_Count can hold",
              static_cast<long long>(count), static_cast<long long>(size));
}

Error find_place(MPI_Count position, MPI_Count count, MPI_Count size, MPI_Count capacity, const char* buffer,
                 Place& place) {
  if (position < 0) return fail(MPI_ERR_ARG, "position is %lld", static_cast<long long>(position));
  MPI_Count bytes;
  if (Error e = packed_bytes(count, size, bytes)) return e;
  if (position > capacity || bytes > capacity - position) {
    return fail(MPI_ERR_TRUNCATE, "%lld bytes at position %lld exceed the %lld bytes of %s",
                static_cast<long long>(bytes), static_cast<long long>(position), static_cast<long long>(capacity),
                buffer);
  }
  place = {position, position + bytes};
  return success;
}

Error check_representation(const char* name) {
  if (std::strcmp(name, "external32") == 0) return success;
  return fail(MPI_ERR_ARG, "datarep is \"%.64s\"; there is only \"external32\"", name);
}

}  // namespace

Error Pack(const void* inbuf, MPI_Count incount, const Datatype& datatype, void* outbuf, MPI_Count outsize,
           CountOut position, Comm& comm) {
  Place place;
  if (Error e = find_place(position.get(), incount, datatype.size, outsize, "outbuf", place)) return e;
  pack(datatype, inbuf, incount, 0, static_cast<char*>(outbuf) + place.begin,
       static_cast<std::size_t>(place.end - place.begin));
  position.set(place.end);
  return success;
}

Error Unpack(const void* inbuf, MPI_Count insize, CountOut position, void* outbuf, MPI_Count outcount,
             const Datatype& datatype, Comm& comm) {
  Place place;
  if (Error e = find_place(position.get(), outcount, datatype.size, insize, "inbuf", place)) return e;
  unpack(datatype, outbuf, outcount, 0, static_cast<const char*>(inbuf) + place.begin,
         static_cast<std::size_t>(place.end - place.begin));
  position.set(place.end);
  return success;
}

Error Pack_size(MPI_Count incount, const Datatype& datatype, Comm& comm, CountOut size) {
  MPI_Count bytes;
  if (Error e = packed_bytes(incount, datatype.size, bytes)) return e;
  size.set(bytes);
  return success;
}

Error Pack_external(const char datarep[], const void* inbuf, MPI_Count incount, const Datatype& datatype, void* outbuf,
                    MPI_Count outsize, CountOut position) {
  if (Error e = check_representation(datarep)) return e;
  Place place;
  const MPI_Count size = datatype::external_size(datatype);
  if (Error e = find_place(position.get(), incount, size, outsize, "outbuf", place)) return e;
  if (Error e = datatype::encode_external(datatype, inbuf, incount, static_cast<char*>(outbuf) + place.begin)) {
    return e;
  }
  position.set(place.end);
  return success;
}

Error Unpack_external(const char datarep[], const void* inbuf, MPI_Count insize, CountOut position, void* outbuf,
                      MPI_Count outcount, const Datatype& datatype) {
  if (Error e = check_representation(datarep)) return e;
  Place place;
  const MPI_Count size = datatype::external_size(datatype);
  if (Error e = find_place(position.get(), outcount, size, insize, "inbuf", place)) return e;
  const char* from = static_cast<const char*>(inbuf) + place.begin;
  if (Error e = datatype::decode_external(datatype, outbuf, outcount, from)) return e;
  position.set(place.end);
  return success;
}

Error Pack_external_size(const char datarep[], MPI_Count incount, const Datatype& datatype, CountOut size) {
  if (Error e = check_representation(datarep)) return e;
  MPI_Count bytes;
  if (Error e = packed_bytes(incount, datatype::external_size(datatype), bytes)) return e;
  size.set(bytes);
  return success;
}

Error Get_address(const void* location, MPI_Aint* address) {
  *address = reinterpret_cast<MPI_Aint>(location);
  return success;
}

// Addresses are unsigned; their sums wrap.
MPI_Aint Aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(disp));
}
MPI_Aint Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(addr1) - static_cast<std::uintptr_t>(addr2));
}

}  // namespace heddle::mpi
