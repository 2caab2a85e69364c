"""python -m seriatim: the command line."""

from seriatim.cli.start import start

if __name__ == "__main__":
    raise SystemExit(start())
