// Small pieces of text handling that the command line, host files and command files share.
#pragma once

#include <string>
#include <vector>

namespace heddle::mpiexec {

// The whole text as a number that is not negative; -1: it is not one.
int whole_number(const std::string& text);

std::vector<std::string> split(const std::string& text, char separator);  // without empty pieces

// For a message: a damaged file may contain any bytes, so all except the letters of ASCII are shown as "?".
std::string printable(const std::string& text);

// Words separated by blanks, as a shell reads them: '...' and "..." keep blanks, a backslash the next character, and
// # begins a comment.
std::vector<std::string> split_quoted(const std::string& line);

// The candidate most likely meant: that with the fewest letters wrong, missing, too many or swapped. Empty if all
// differ too much.
std::string nearest(const std::string& word, const std::vector<std::string>& candidates);

// Lists of assignments as execve takes them: NAME=VALUE.
std::string name_of(const std::string& assignment);
std::string value_in(const std::vector<std::string>& environment, const std::string& name);  // empty if it is not there
void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value);

// Pointers into `words`, with the null at the end that execve wants.
std::vector<char*> pointers_to(std::vector<std::string>& words);

// The folder of mpiexec, with a slash at the end: its parts are found from there.
std::string own_folder();

// The contents of the file, at most `most` bytes; nothing if it is unreadable.
std::string bytes_of_file(const std::string& path, std::size_t most = 64 << 20);

// Throws UsageError if the file can't be read.
std::vector<std::string> lines_of_file(const std::string& path);

}  // namespace heddle::mpiexec
