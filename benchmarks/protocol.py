"""Does the protocol of comparisons keep what it says? Hours; what is measured is kept, and gone on with.

    python benchmarks/protocol.py PART [NAME ...]
    python benchmarks/protocol.py pairs [NAME ...] [--pairs 20] [--minutes 1] [--cache FOLDER]

PART is one of data (what more data would give: data_curves.py) and pairs (whether two comparisons
agree: pairs.py); NAME is a data set of it, without names all are measured. SERIATIM_KEPT is the folder
in which measured cells of data are kept, --cache that of pairs.
"""

from __future__ import annotations

import argparse
from importlib import import_module

# each a module here, with a function main(names) that takes these options besides
PARTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "data": ("data_curves", ()),
    "pairs": ("pairs", ("pairs", "minutes", "cache")),
}


def main() -> None:
    """One part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=list(PARTS))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--pairs", type=int, default=20, help="pairs: how many")
    parser.add_argument("--minutes", type=float, default=1.0, help="pairs: of each comparison")
    parser.add_argument("--cache", default="", help="pairs: folder of what was measured")
    given = parser.parse_args()
    module, options = PARTS[given.part]
    asked = {name: getattr(given, name) for name in options}
    import_module(module).main(given.names, **asked)


if __name__ == "__main__":
    main()
