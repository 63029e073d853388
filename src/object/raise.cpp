#include "object/raise.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "boot/join.hpp"
#include "object/comm.hpp"
#include "object/error_class.hpp"
#include "object/file.hpp"
#include "object/resolve.hpp"
#include "object/session.hpp"
#include "object/tables.hpp"
#include "object/win.hpp"
#include "rank/rank.hpp"

namespace heddle {

namespace {

// Whose error it is, and what is to be done about it.
struct Responsible {
  Comm* comm = nullptr;
  File* file = nullptr;
  Win* win = nullptr;
  Session* session = nullptr;
  Errhandler* errhandler;  // a reference
};

// Errors of opening and deleting files belong to MPI_FILE_NULL (section 14.7), whatever communicator is named.
bool is_of_file(Function function) { return std::string_view(name(function)).starts_with("MPI_File_"); }

// What the functions make that are given an error handler for it.
Kind made_by(Function function) { return function == Function::Session_init ? Kind::session : Kind::comm; }

Responsible responsible_for(Rank& rank, Function function, Object* owner) {
  Responsible result{};
  if ((result.errhandler = std::exchange(error_detail().errhandler, nullptr))) return result;
  if (owner && owner->kind == Kind::errhandler) {
    auto& errhandler = *static_cast<Errhandler*>(owner);
    if (errhandler.fits(made_by(function))) {
      retain(errhandler);
      result.errhandler = &errhandler;
      return result;
    }
  }
  if (owner && owner->kind == Kind::file) {
    result.file = static_cast<File*>(owner);
    result.errhandler = result.file->errhandler.get();
  } else if (is_of_file(function)) {
    result.errhandler = rank.tables->file_errhandler.get();
  } else if (owner && owner->kind == Kind::win) {
    result.win = static_cast<Win*>(owner);
    result.errhandler = result.win->errhandler.get();
  } else if (owner && owner->kind == Kind::comm) {
    result.comm = static_cast<Comm*>(owner);
  } else if (owner && owner->kind == Kind::session) {
    result.session = static_cast<Session*>(owner);
  } else {
    result.comm = rank.self;
  }
  if (result.comm) result.errhandler = result.comm->errhandler.get();
  if (result.session) result.errhandler = result.session->errhandler.get();
  if (!result.errhandler) result.errhandler = rank.tables->initial_errhandler.get();
  return result;
}

template <class Named>
std::string title(Named& object, const char* unnamed) {
  std::lock_guard guard(object.mutex);
  return object.name.empty() ? unnamed : object.name;
}

[[noreturn]] void end_job(Rank& rank, Function function, const Responsible& responsible, int code,
                          const char* sentence) {
  int error_class = MPI_ERR_UNKNOWN;
  rank.tables->errors.find_class(code, error_class);
  std::string meaning;
  if (!rank.tables->errors.find_text(code, meaning)) meaning = "error code " + std::to_string(code);

  char text[boot::abort_text_bytes];
  int n = 0;
  const auto left = [&] { return sizeof text - static_cast<std::size_t>(n); };
  const auto add = [&](const char* format, auto... values) {
    const int wanted = std::snprintf(text + n, left(), format, values...);
    n = std::min(n + wanted, static_cast<int>(sizeof text) - 1);
  };
  add("%s failed on rank %d of %d\n  %s\n", name(function), rank.job.rank, rank.job.size, meaning.c_str());
  if (sentence[0] != '\0') add("  %s\n", sentence);
  if (responsible.comm) {
    add("  on %s (rank %d of %d)\n", title(*responsible.comm, "an unnamed communicator").c_str(),
        responsible.comm->rank, responsible.comm->size);
  }
  if (Win* win = responsible.win) {
    add("  on %s (rank %d of %d)\n", title(*win, "an unnamed window").c_str(), win->comm->rank, win->comm->size);
  }
  if (responsible.file) add("  on file %s\n", responsible.file->name.c_str());
  boot::abort(rank.job.header ? &rank.job : nullptr, error_class, text);
}

}  // namespace

int handle_error(Function function, Object* owner, int code, const char* sentence) {
  Rank& rank = current_rank();
  const Responsible responsible = responsible_for(rank, function, owner);
  struct {
    Rank& rank;
    Function function;
    const Responsible& responsible;
    int code;
    const char* sentence;
    void operator()(Errhandler::Fatal) const { end_job(rank, function, responsible, code, sentence); }
    void operator()(Errhandler::Abort) const { end_job(rank, function, responsible, code, sentence); }
    void operator()(Errhandler::Return) const {}
    void operator()(MPI_Comm_errhandler_function* call) const {
      MPI_Comm handle = responsible.comm ? handle_of<MPI_Comm>(*responsible.comm) : MPI_COMM_NULL;
      int its_code = code;
      call(&handle, &its_code);
    }
    void operator()(MPI_Session_errhandler_function* call) const {
      MPI_Session handle = responsible.session ? handle_of<MPI_Session>(*responsible.session) : MPI_SESSION_NULL;
      int its_code = code;
      call(&handle, &its_code);
    }
    void operator()(MPI_File_errhandler_function* call) const {
      MPI_File handle = responsible.file ? handle_of<MPI_File>(*responsible.file) : MPI_FILE_NULL;
      int its_code = code;
      call(&handle, &its_code);
    }
    void operator()(MPI_Win_errhandler_function* call) const {
      MPI_Win handle = responsible.win ? handle_of<MPI_Win>(*responsible.win) : MPI_WIN_NULL;
      int its_code = code;
      call(&handle, &its_code);
    }
  } handler{rank, function, responsible, code, sentence};
  std::visit(handler, responsible.errhandler->action);
  release(*responsible.errhandler);
  return code;
}

int raise(Function function, Object* owner, Error error) {
  ErrorDetail& detail = error_detail();
  if (detail.comm) owner = detail.comm;
  // The handler may call MPI, and that may fail too.
  char sentence[sizeof detail.text];
  std::snprintf(sentence, sizeof sentence, "%s", detail.text);
  detail.comm = nullptr;
  detail.text[0] = '\0';
  return handle_error(function, owner, error.code(), sentence);
}

}  // namespace heddle
