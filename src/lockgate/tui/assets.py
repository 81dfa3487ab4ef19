"""Finds the style sheets: inside the package in a wheel, at the repository's top level in a checkout."""

from importlib.resources import files
from pathlib import Path

from lockgate.model.errors import LockgateError


def css_dir() -> Path:
    """The folder of the style sheets.

    Raises LockgateError when the installation has none.
    """
    packaged = Path(str(files("lockgate.tui"))) / "css"
    checkout = Path(__file__).resolve().parents[3] / "css"
    for folder in (packaged, checkout):
        if folder.is_dir():
            return folder
    places = f"neither in {packaged} nor in {checkout}"
    raise LockgateError(
        f"the style sheets of the dashboard are {places}: install lockgate again",
        looked_in=[str(packaged), str(checkout)],
    )
