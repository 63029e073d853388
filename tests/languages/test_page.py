"""page.py runs what a page says and notices what does not come true; every page of a language can be run by it, or says that it is untested."""

import pathlib
import tempfile
import unittest

import page

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs/guides/languages"
NO_LANGUAGE = {"README", "upstream"}
EXAMPLE = """Text.

```c one/file.c
int one;
```

```sh
export NAME=value
printf 'b\\na\\n'
```

```text
a
b
```

```sh
cat one/file.c; echo $NAME {prefix}
```

```text
{wanted}
```
"""


class Runs(unittest.TestCase):
    def run_page(self, wanted: str, more: str = "") -> int:
        with tempfile.TemporaryDirectory() as folder:
            text = EXAMPLE.format(wanted=wanted, prefix="$HEDDLE") + more
            return page.run(page.read(text), pathlib.Path("/prefix"), pathlib.Path(folder) / "work", "")

    def test_what_comes_true(self):
        self.assertEqual(self.run_page("int one;\nvalue /prefix"), 0)

    def test_what_does_not(self):
        self.assertEqual(self.run_page("int two;"), 1)
        self.assertEqual(self.run_page("int one;\nint one;"), 1)
        self.assertEqual(self.run_page("int one;", "\n```sh\nexit 3\n```\n"), 3)
        self.assertEqual(self.run_page("int one;", "\n```sh\nfalse\ntrue\n```\n"), 1)


class Pages(unittest.TestCase):
    def test_each_can_be_run_or_says_that_it_is_not(self):
        languages = [file for file in PAGES.glob("*.md") if file.stem not in NO_LANGUAGE]
        self.assertGreater(len(languages), 3)
        for file in languages:
            with self.subTest(file.name):
                steps = page.read(file.read_text()).steps
                self.assertTrue(steps)
                if file.stem in page.NEEDS:
                    self.assertTrue(any(step.printed for step in steps))
                    self.assertIn(f"./dev language {file.stem}", file.read_text())
                else:
                    self.assertIn("untested", file.read_text())


if __name__ == "__main__":
    unittest.main()
