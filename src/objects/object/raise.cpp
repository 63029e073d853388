#include "objects/object/raise.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "launch/boot/join.hpp"
#include "launch/rank/rank.hpp"
#include "objects/object/comm.hpp"
#include "objects/object/error_class.hpp"
#include "objects/object/file.hpp"
#include "objects/object/resolve.hpp"
#include "objects/object/session.hpp"
#include "objects/object/tables.hpp"
#include "objects/object/win.hpp"

namespace heddle {

namespace {

// The object responsible for an error, and its handling.
struct Responsible {
  Comm* comm = nullptr;
  bool of_call = false;  // the call is about the communicator; else only its error handler is used
  File* file = nullptr;
  Win* win = nullptr;
  Session* session = nullptr;
  Errhandler* errhandler = nullptr;  // a reference
};

// Errors of opening and deleting files belong to MPI_FILE_NULL (section 14.7), whatever communicator is named.
bool is_of_file(Function function) { return std::string_view(name(function)).starts_with("MPI_File_"); }

// The kind of object made by functions that take an error handler for it.
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
    result.of_call = true;
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

// Text of bounded length. It needs no memory: the error may be the lack of it.
template <std::size_t bytes>
class Text {
 public:
  template <class... Values>
  void add(const char* format, Values... values) {
    const int wanted = std::snprintf(text_ + length_, bytes - length_, format, values...);
    if (wanted > 0) length_ = std::min(length_ + static_cast<std::size_t>(wanted), bytes - 1);
  }
  bool empty() const { return length_ == 0; }
  const char* c_str() const { return text_; }

 private:
  char text_[bytes] = {};
  std::size_t length_ = 0;
};

// "on loom (rank 1 of 3)"; empty if no object is responsible.
using Place = Text<512>;
Place place_of(const Responsible& responsible) {
  Place place;
  const auto add = [&](const char* prefix, const std::string& name, const char* unnamed, const Comm& comm) {
    place.add("on %s%s (rank %d of %d)", prefix, name.empty() ? unnamed : name.c_str(), comm.rank, comm.size);
  };
  if (Comm* comm = responsible.comm; comm && responsible.of_call) {
    const std::lock_guard guard(comm->mutex);
    add("", comm->name, "an unnamed communicator", *comm);
  } else if (Win* win = responsible.win) {
    const std::lock_guard guard(win->mutex);
    add("", win->name, "an unnamed window", *win->comm);
  } else if (File* file = responsible.file) {
    add("file ", file->name, "", *file->comm);
  }
  return place;
}

void remember(Function function, int code, const char* sentence) {
  ErrorDetail& detail = error_detail();
  detail.returned = code;
  detail.returned_text[0] = '\0';
  if (code != MPI_SUCCESS && sentence[0] != '\0')
    std::snprintf(detail.returned_text, sizeof detail.returned_text, "%s: %s", name(function), sentence);
}

// " on rank 1 of 4". Before MPI is initialized it comes from mpiexec's variables, if they are set.
Text<64> place_in_job(const Rank& rank) {
  Text<64> place;
  const char* const number = std::getenv(boot::rank_variable);
  const char* const size = std::getenv(boot::size_variable);
  if (rank.job) {
    place.add(" on rank %d of %d", rank.rank_shown(), rank.job->size());
  } else if (number != nullptr && size != nullptr) {
    place.add(" on rank %s of %s", number, size);
  }
  return place;
}

void add_meaning(Rank& rank, int code, Text<boot::abort_text_bytes>& text) {
  if (const ErrorClass* standard = standard_error_class(code))
    return text.add("  %s: %s\n", standard->name, standard->text);
  std::string meaning;  // the program's own
  if (rank.tables->errors.find_text(code, meaning)) return text.add("  %s\n", meaning.c_str());
  text.add("  error code %d\n", code);
}

[[noreturn]] void end_job(Rank& rank, Function function, const Responsible& responsible, int code,
                          const char* sentence) {
  int error_class = MPI_ERR_UNKNOWN;
  rank.tables->errors.find_class(code, error_class);
  Text<boot::abort_text_bytes> text;
  text.add("%s failed%s\n", name(function), place_in_job(rank).c_str());
  // "Known error that is not in this list" beside a sentence adds nothing.
  if (code != MPI_ERR_OTHER || sentence[0] == '\0') add_meaning(rank, code, text);
  if (sentence[0] != '\0') text.add("  %s\n", sentence);
  if (const Place where = place_of(responsible); !where.empty()) text.add("  %s\n", where.c_str());
  boot::abort(rank.job.get(), error_class, text.c_str());
}

// The second argument of a handler of the program's is the code that the call shall return, which it may change.
template <class Call, class Handle>
int called(Call* call, Handle handle, int code) {
  call(&handle, &code);
  return code;
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
    int operator()(Errhandler::Fatal) const { end_job(rank, function, responsible, code, sentence); }
    int operator()(Errhandler::Abort) const { end_job(rank, function, responsible, code, sentence); }
    int operator()(Errhandler::Return) const { return code; }
    int operator()(MPI_Comm_errhandler_function* call) const {
      return called(call, responsible.comm ? handle_of<MPI_Comm>(*responsible.comm) : MPI_COMM_NULL, code);
    }
    int operator()(MPI_Session_errhandler_function* call) const {
      return called(call, responsible.session ? handle_of<MPI_Session>(*responsible.session) : MPI_SESSION_NULL, code);
    }
    int operator()(MPI_File_errhandler_function* call) const {
      return called(call, responsible.file ? handle_of<MPI_File>(*responsible.file) : MPI_FILE_NULL, code);
    }
    int operator()(MPI_Win_errhandler_function* call) const {
      return called(call, responsible.win ? handle_of<MPI_Win>(*responsible.win) : MPI_WIN_NULL, code);
    }
  } handler{rank, function, responsible, code, sentence};
  const int returned = std::visit(handler, responsible.errhandler->action);
  release(*responsible.errhandler);
  return returned;
}

int raise(Function function, Object* owner, Error error) {
  ErrorDetail& detail = error_detail();
  if (detail.comm) owner = detail.comm;
  // The handler may call MPI, and that may fail too.
  char sentence[sizeof detail.text];
  std::snprintf(sentence, sizeof sentence, "%s", detail.text);
  detail.comm = nullptr;
  detail.text[0] = '\0';
  remember(function, error.code(), sentence);
  const int code = handle_error(function, owner, error.code(), sentence);
  remember(function, code, sentence);  // the handler may have called MPI, and that may have failed too
  return code;
}

}  // namespace heddle
