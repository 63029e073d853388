// The representations of numbers in a file (MPI 5.0, section 14.5): "native", "internal", "external32", and those that
// the program registers.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "objects/datatype/datatype.hpp"
#include "objects/datatype/reference.hpp"
#include "objects/object/error.hpp"

namespace heddle::io {

class Representation {
 public:
  explicit Representation(std::string name) : name_(std::move(name)) {}
  virtual ~Representation() = default;

  const std::string& name() const { return name_; }
  // The file holds the same bytes as memory: the functions below are not called.
  virtual bool is_native() const { return false; }
  // True if encode and decode call functions of the program.
  virtual bool calls_program() const { return false; }

  // Bytes of one predefined datatype in the file.
  virtual Error size(const Datatype& predefined, std::int64_t& bytes) const = 0;
  // `count` elements to and from count * file_size bytes that follow each other.
  virtual Error encode(const Datatype& type, const void* buf, MPI_Count count, void* out) const = 0;
  virtual Error decode(const Datatype& type, void* buf, MPI_Count count, void* in) const = 0;

 private:
  std::string name_;
};

// Bytes of one element of the datatype in a file of that representation.
Error file_size(const Representation& representation, const Datatype& type, std::int64_t& bytes);
// The datatype as laid out in the file: displacements that its constructors count in extents are counted in those of
// the file.
Error in_file(const Representation& representation, const Datatype& type, datatype::Reference& made);

std::shared_ptr<const Representation> native();

// Those of a rank, by name; null if there is none.
std::shared_ptr<const Representation> find_representation(const std::string& name);

}  // namespace heddle::io
