// Stands for Python, which is known by the function that its own main calls: a library that has it, a program that is linked
// with that (EMBEDS), and a program that has it itself (IS).
#ifdef EMBEDS
int Py_BytesMain(int argc, char** argv);
int main(int argc, char** argv) { return Py_BytesMain(argc, argv); }
#else
int Py_BytesMain(int argc, char** argv) {
  (void)argv;
  return argc == 0;
}
#ifdef IS
int main(int argc, char** argv) { return Py_BytesMain(argc, argv); }
#endif
#endif
