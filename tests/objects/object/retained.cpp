// The objects of a request or a function of the program stay valid when the program has freed its handle: datatypes that user-defined
// reductions are called with, and the communicators, datatypes and operations of requests that are started later. The objects that
// are made meanwhile take the places of those that have been freed.
#include <array>
#include <functional>
#include <vector>

#include "mpi/check.hpp"

using namespace test;

namespace {

MPI_Datatype expected_type;  // the handle's value; the program has freed it
int reductions = 0;

// For pairs of ints: adds both.
void add_pairs(void* in, void* inout, int* count, MPI_Datatype* type) {
  ++reductions;
  check(*type == expected_type, "the handle that the operation was begun with");
  int size = 0;
  MPI_Aint lb = -1, extent = 0;
  equal(MPI_Type_size(*type, &size), MPI_SUCCESS, "MPI_Type_size in the function");
  equal(MPI_Type_get_extent(*type, &lb, &extent), MPI_SUCCESS, "MPI_Type_get_extent in the function");
  equal(size, 2 * sizeof(int), "size");
  equal(extent, 3 * sizeof(int), "extent");
  check(MPI_Type_fromint(MPI_Type_toint(*type)) == *type, "the handle as an integer, and back");
  for (int i = 0; i < *count; ++i)
    for (int k = 0; k < 2; ++k) static_cast<int*>(inout)[3 * i + k] += static_cast<int*>(in)[3 * i + k];
}

MPI_Datatype make_pair() {
  MPI_Datatype pair, spaced;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 3 * sizeof(int), &spaced);
  MPI_Type_commit(&spaced);
  MPI_Type_free(&pair);
  return spaced;
}

// Others of the same kind, which come to lie where freed objects did.
struct Foreign {
  std::array<MPI_Datatype, 4> types;
  std::array<MPI_Comm, 4> comms;
  Foreign() {
    for (MPI_Datatype& type : types) MPI_Type_contiguous(7, MPI_CHAR, &type);
    for (MPI_Comm& comm : comms) MPI_Comm_dup(MPI_COMM_SELF, &comm);
  }
  ~Foreign() {
    for (MPI_Datatype& type : types) MPI_Type_free(&type);
    for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  }
};

struct Reduction {
  const char* name;
  std::function<void(const int* in, int* out, MPI_Datatype, MPI_Op, MPI_Comm, MPI_Request*)> begin;
};

const int ones[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

const std::vector<Reduction> nonblocking = {
    {"MPI_Ireduce",
     [](auto in, auto out, auto t, auto op, auto c, auto r) { MPI_Ireduce(in, out, 2, t, op, 0, c, r); }},
    {"MPI_Iallreduce",
     [](auto in, auto out, auto t, auto op, auto c, auto r) { MPI_Iallreduce(in, out, 2, t, op, c, r); }},
    {"MPI_Ireduce_scatter",
     [](auto in, auto out, auto t, auto op, auto c, auto r) { MPI_Ireduce_scatter(in, out, ones, t, op, c, r); }},
    {"MPI_Ireduce_scatter_block",
     [](auto in, auto out, auto t, auto op, auto c, auto r) { MPI_Ireduce_scatter_block(in, out, 1, t, op, c, r); }},
    {"MPI_Iscan", [](auto in, auto out, auto t, auto op, auto c, auto r) { MPI_Iscan(in, out, 2, t, op, c, r); }},
    {"MPI_Iexscan", [](auto in, auto out, auto t, auto op, auto c, auto r) { MPI_Iexscan(in, out, 2, t, op, c, r); }},
};
const std::vector<Reduction> persistent = {
    {"MPI_Reduce_init", [](auto in, auto out, auto t, auto op, auto c,
                           auto r) { MPI_Reduce_init(in, out, 2, t, op, 0, c, MPI_INFO_NULL, r); }},
    {"MPI_Allreduce_init", [](auto in, auto out, auto t, auto op, auto c,
                              auto r) { MPI_Allreduce_init(in, out, 2, t, op, c, MPI_INFO_NULL, r); }},
    {"MPI_Reduce_scatter_init", [](auto in, auto out, auto t, auto op, auto c,
                                   auto r) { MPI_Reduce_scatter_init(in, out, ones, t, op, c, MPI_INFO_NULL, r); }},
    {"MPI_Reduce_scatter_block_init",
     [](auto in, auto out, auto t, auto op, auto c, auto r) {
       MPI_Reduce_scatter_block_init(in, out, 1, t, op, c, MPI_INFO_NULL, r);
     }},
    {"MPI_Scan_init",
     [](auto in, auto out, auto t, auto op, auto c, auto r) { MPI_Scan_init(in, out, 2, t, op, c, MPI_INFO_NULL, r); }},
    {"MPI_Exscan_init", [](auto in, auto out, auto t, auto op, auto c,
                           auto r) { MPI_Exscan_init(in, out, 2, t, op, c, MPI_INFO_NULL, r); }},
};

// Rank by rank, so that every reduction is under way when its handles are freed.
void reduce(const Reduction& reduction, bool starts_later) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Op op;
  MPI_Op_create(add_pairs, 1, &op);
  MPI_Datatype type = make_pair();
  expected_type = type;
  std::vector<int> in(static_cast<std::size_t>(3 * (size() + 2)), rank() + 1), out(in.size(), -1);
  MPI_Request request;
  if (rank() > 0) MPI_Recv(nullptr, 0, MPI_CHAR, rank() - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  reduction.begin(in.data(), out.data(), type, op, comm, &request);
  MPI_Type_free(&type);
  MPI_Op_free(&op);
  MPI_Comm_free(&comm);
  if (rank() + 1 < size()) MPI_Send(nullptr, 0, MPI_CHAR, rank() + 1, 0, MPI_COMM_WORLD);
  {
    const Foreign foreign_handles;
    for (int round = 0; round < (starts_later ? 2 : 1); ++round) {
      if (starts_later) MPI_Start(&request);
      equal(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS, reduction.name);
    }
  }
  if (starts_later) MPI_Request_free(&request);
  const std::string name = reduction.name;
  const bool prefix = name.find("scan") != std::string::npos || name.find("Scan") != std::string::npos;
  const bool exclusive = name.find("xscan") != std::string::npos;
  const bool rooted = name == "MPI_Ireduce" || name == "MPI_Reduce_init";
  const int summands = !prefix ? size() : exclusive ? rank() : rank() + 1;
  if (summands > 0 && (!rooted || rank() == 0)) equal(out[0], summands * (summands + 1) / 2, reduction.name);
  check(out[2] == -1, "the hole of the datatype");
  MPI_Barrier(MPI_COMM_WORLD);
}

// A persistent request of each kind of send, whose communicator and datatype have been freed.
void send_later(const char* name, decltype(&MPI_Send_init) init) {
  const int to = (rank() + 1) % size(), from = (rank() + size() - 1) % size();
  std::vector<char> room(1000 + MPI_BSEND_OVERHEAD);
  MPI_Buffer_attach(room.data(), static_cast<int>(room.size()));
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Datatype type = make_pair();
  const std::array<int, 3> out{rank(), rank() + 100, -1};
  std::array<int, 3> in{-1, -1, -1};
  std::array<MPI_Request, 2> requests;
  MPI_Recv_init(in.data(), 1, type, from, 5, comm, &requests[0]);
  init(out.data(), 1, type, to, 5, comm, &requests[1]);
  MPI_Comm_free(&comm);
  MPI_Type_free(&type);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm foreign;
  MPI_Comm_dup(MPI_COMM_WORLD, &foreign);
  {
    const Foreign foreign_handles;
    int there = 0;
    for (int round = 0; round < 2; ++round) {
      in = {-1, -1, -1};
      MPI_Start(&requests[0]);
      MPI_Barrier(MPI_COMM_WORLD);  // a ready send finds its receive
      MPI_Start(&requests[1]);
      MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
      equal(in[0], from, name);
      equal(in[1], from + 100, name);
      equal(in[2], -1, "the hole of the datatype");
    }
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, foreign, &there, MPI_STATUS_IGNORE);
    equal(there, 0, "messages on another communicator");
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
  MPI_Comm_free(&foreign);
  void* address;
  int bytes;
  MPI_Buffer_detach(&address, &bytes);
}

int calls_of_foreign_handler = 0;
void note_call(MPI_Comm*, int*, ...) { ++calls_of_foreign_handler; }

// An error of an operation whose communicator has been freed is none of the communicator that is there now.
void fail_later() {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(note_call, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm comm, foreign;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Request request;
  char in[2];
  const char out[3] = {};
  MPI_Irecv(in, 2, MPI_CHAR, 0, 0, comm, &request);
  MPI_Send(out, 3, MPI_CHAR, 0, 0, comm);
  MPI_Comm_free(&comm);
  MPI_Comm_dup(MPI_COMM_SELF, &foreign);
  MPI_Comm_set_errhandler(foreign, handler);
  equal(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)), MPI_ERR_TRUNCATE, "the error of the receive");
  equal(calls_of_foreign_handler, 0, "calls of another communicator's error handler");
  MPI_Comm_free(&foreign);
  MPI_Errhandler_free(&handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

// The handle is the function's only: it has been freed.
MPI_Datatype given;
void free_again(void*, void*, int*, MPI_Datatype* type) {
  given = *type;
  MPI_Datatype copy = *type;
  equal(class_of(MPI_Type_free(&copy)), MPI_ERR_TYPE, "MPI_Type_free of a type that has been freed");
}
void refuse_second_free() {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Op op;
  MPI_Op_create(free_again, 1, &op);
  MPI_Datatype type = make_pair();
  const MPI_Datatype freed = type;
  int in[3] = {}, out[3];
  MPI_Request request;
  MPI_Allreduce_init(in, out, 1, type, op, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Type_free(&type);
  int bytes;
  equal(class_of(MPI_Type_size(freed, &bytes)), MPI_ERR_TYPE, "outside of the function");
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  equal(class_of(MPI_Type_size(freed, &bytes)), MPI_ERR_TYPE, "after the function");
  MPI_Request_free(&request);
  MPI_Op_free(&op);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

int main(int argc, char** argv) {
  const Session session(&argc, &argv);
  if (size() > 1) {
    for (const Reduction& reduction : nonblocking) reduce(reduction, false);
    for (const Reduction& reduction : persistent) reduce(reduction, true);
    int all = 0;
    MPI_Allreduce(&reductions, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    check(all > 0, "the function was called");
    refuse_second_free();
  }
  send_later("MPI_Send_init", MPI_Send_init);
  send_later("MPI_Bsend_init", MPI_Bsend_init);
  send_later("MPI_Ssend_init", MPI_Ssend_init);
  send_later("MPI_Rsend_init", MPI_Rsend_init);
  fail_later();
}
