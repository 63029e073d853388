#include "launch/host/variables.hpp"

namespace heddle::host {

Variable variable_named(std::string_view symbol) {
  struct Name {
    std::string_view symbol;
    Variable variable;
  };
  static constexpr Name names[] = {
      {"stdin", Variable::standard_input},
      {"stdout", Variable::standard_output},
      {"stderr", Variable::standard_error},
      {"environ", Variable::environment},
      {"_environ", Variable::environment},
      {"__environ", Variable::environment},
      {"optarg", Variable::option_argument},
      {"optind", Variable::option_index},
      {"opterr", Variable::option_errors},
      {"optopt", Variable::option_unknown},
      {"program_invocation_name", Variable::program_name},
      {"__progname_full", Variable::program_name},
      {"program_invocation_short_name", Variable::short_program_name},
      {"__progname", Variable::short_program_name},
  };
  for (const Name& name : names)
    if (name.symbol == symbol) return name.variable;
  return Variable::none;
}

}  // namespace heddle::host
