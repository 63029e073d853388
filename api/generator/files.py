"""Writing generated files."""

from pathlib import Path


def write(path: Path, text: str) -> None:
    """Leaves a file alone that is right already, so that nothing which includes it is rebuilt."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
