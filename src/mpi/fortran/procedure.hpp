// A Fortran procedure that the program passes to be called back.
#pragma once

namespace heddle::fortran {

using Procedure = void (*)();

// Calls it: Fortran passes everything by reference.
template <class... Arguments>
void call(Procedure procedure, Arguments*... arguments) {
  reinterpret_cast<void (*)(Arguments * ...)>(procedure)(arguments...);
}

}  // namespace heddle::fortran
