/* Programs that a rank starts in all of libc's ways: they have the environment and the working directory of the rank, and what
   they do ends neither the rank nor its neighbours. */
#include <mpi.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int rank, wrong;
static char sentence[64]; /* for the shell: to exit with the rank's own number */

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  wrong = 1;
}

static int code_of(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int may_end;
static void at_end(void) {
  if (may_end) return;
  fputs("exit handlers ran too early\n", stderr);
  _exit(99);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int code = 10 + rank;
  char number[16];
  snprintf(number, sizeof number, "%d", code);
  setenv("CODE", number, 1);
  snprintf(sentence, sizeof sentence, "exit $CODE");
  char directory[] = "/tmp/heddle-test-XXXXXX";
  expect(mkdtemp(directory) != NULL && chdir(directory) == 0, "there is no directory to go to");
  MPI_Barrier(MPI_COMM_WORLD);

  expect(WEXITSTATUS(system(sentence)) == code, "system() has another environment");

  FILE* pipe = popen("echo $CODE; pwd", "r");
  char line[64] = "", where[64] = "";
  expect(pipe != NULL && fgets(line, sizeof line, pipe) && fgets(where, sizeof where, pipe), "popen() gave nothing");
  where[strcspn(where, "\n")] = '\0';
  expect(atoi(line) == code, "popen() has another environment");
  expect(strcmp(where, directory) == 0, "popen() has another working directory");
  expect(pipe != NULL && pclose(pipe) == 0, "pclose() does not know the command");
  pipe = popen("read x; exit $x", "w");
  fprintf(pipe, "%d\n", code);
  expect(WEXITSTATUS(pclose(pipe)) == code, "a command did not get what was written to it");

  pid_t child = fork();
  if (child == 0) {
    char* words[] = {"sh", "-c", sentence, NULL};
    execvp("sh", words);
    _exit(1);
  }
  expect(code_of(child) == code, "execvp() has another environment");
  child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", sentence, (char*)NULL);
    _exit(1);
  }
  expect(code_of(child) == code, "execl() has another environment");
  child = fork();
  if (child == 0) exit(getpid() == getppid() ? 1 : code);
  expect(code_of(child) == code, "a child of fork did not exit as it should");
  atexit(at_end);
  child = vfork();
  if (child == 0) {
    execl("/nonexistent", "nonexistent", (char*)NULL);
    _exit(code);
  }
  expect(code_of(child) == code, "a child of vfork did not exit as it should");
  char* words[] = {"sh", "-c", sentence, NULL};
  expect(posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0 && code_of(child) == code,
         "posix_spawn() has another environment");

  expect(chdir("/") == 0 && rmdir(directory) == 0, "a child left something behind");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  may_end = 1;
  return wrong;
}
