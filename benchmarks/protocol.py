"""Does the protocol of comparisons keep what it says? Hours; what is measured is kept, and gone on with.

    python benchmarks/protocol.py PART [NAME ...]

PART is one of data (what more data would give: data_curves.py); NAME is a data set of it, without
names all are measured. SERIATIM_KEPT is the folder in which measured cells are kept.
"""

from __future__ import annotations

import argparse
from importlib import import_module

PARTS = {"data": "data_curves"}  # each a module here, with a function main(names)


def main() -> None:
    """One part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=list(PARTS))
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    import_module(PARTS[given.part]).main(given.names)


if __name__ == "__main__":
    main()
