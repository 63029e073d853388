#include "base/threads/random/pending.hpp"

#include <algorithm>

namespace random_program {

namespace {

template <class Operations>
std::vector<MPI_Request> requests_of(const Operations& operations) {
  std::vector<MPI_Request> requests;
  for (const auto& operation : operations) requests.push_back(operation.request);
  return requests;
}

}  // namespace

void Pending::add(MPI_Request request, bool persistent, Done done) {
  expect(request != MPI_REQUEST_NULL, "an operation that was started has a request");
  operations_.push_back({request, persistent, std::move(done)});
}

void Pending::complete(test::Random& random, bool all) {
  Operations some, rest;
  for (Operation& operation : operations_) (all || random.one_in(2) ? some : rest).push_back(std::move(operation));
  operations_ = std::move(rest);
  for (std::size_t i = some.size(); i > 1; --i)
    std::swap(some[i - 1], some[static_cast<std::size_t>(random.below(static_cast<int>(i)))]);
  complete(some, random);
}

void Pending::complete(Operations& some, test::Random& random) {
  switch (random.below(8)) {
    case 0:
    case 1:
      one_by_one(some, random);
      break;
    case 2:
    case 3:
      any(some, random.one_in(2));
      break;
    case 4:
    case 5:
      several(some, random.one_in(2));
      break;
    default:
      together(some, random.one_in(2));
  }
}

void Pending::one_by_one(Operations& some, test::Random& random) {
  for (Operation& operation : some) {
    MPI_Request request = operation.request;
    MPI_Status status;
    int flag = 0;
    switch (random.below(3)) {
      case 0:
        MPI_Wait(&request, &status);
        break;
      case 1:
        while (!flag) MPI_Test(&request, &flag, &status);
        break;
      default:
        while (!flag) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&request, &status);
    }
    finish(operation, request, status);
  }
}

void Pending::any(Operations& some, bool blocking) {
  std::vector<MPI_Request> requests = requests_of(some);
  const int n = static_cast<int>(requests.size());
  for (int left = n; left > 0;) {
    int index = MPI_UNDEFINED, flag = 1;
    MPI_Status status;
    if (blocking)
      MPI_Waitany(n, requests.data(), &index, &status);
    else
      MPI_Testany(n, requests.data(), &index, &flag, &status);
    if (!flag) continue;
    expect(index >= 0 && index < n, "one of several requests completes");
    const auto place = static_cast<std::size_t>(index);
    finish(some[place], requests[place], status);
    --left;
  }
}

void Pending::several(Operations& some, bool blocking) {
  std::vector<MPI_Request> requests = requests_of(some);
  std::vector<int> indices(requests.size());
  std::vector<MPI_Status> statuses(requests.size());
  const int n = static_cast<int>(requests.size());
  for (int left = n; left > 0;) {
    int count;
    if (blocking)
      MPI_Waitsome(n, requests.data(), &count, indices.data(), statuses.data());
    else
      MPI_Testsome(n, requests.data(), &count, indices.data(), statuses.data());
    expect(count >= (blocking ? 1 : 0) && count <= left, "some of several requests complete");
    for (int i = 0; i < count; ++i) {
      const auto place = static_cast<std::size_t>(indices[static_cast<std::size_t>(i)]);
      finish(some[place], requests[place], statuses[static_cast<std::size_t>(i)]);
    }
    left -= count;
  }
}

void Pending::together(Operations& some, bool blocking) {
  std::vector<MPI_Request> requests = requests_of(some);
  std::vector<MPI_Status> statuses(requests.size());
  const int n = static_cast<int>(requests.size());
  if (blocking) MPI_Waitall(n, requests.data(), statuses.data());
  for (int flag = blocking; !flag;) MPI_Testall(n, requests.data(), &flag, statuses.data());
  for (std::size_t i = 0; i < some.size(); ++i) finish(some[i], requests[i], statuses[i]);
}

void Pending::finish(Operation& operation, MPI_Request& request, const MPI_Status& status) {
  expect(static_cast<bool>(operation.done), "a request completes once");
  expect((request != MPI_REQUEST_NULL) == operation.persistent, "only a persistent request outlives its completion");
  operation.done(status);
  operation.done = nullptr;
  if (operation.persistent) MPI_Request_free(&request);
}

}  // namespace random_program
