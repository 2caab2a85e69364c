"""The options of forecasters."""

from __future__ import annotations

from dataclasses import dataclass

from seriatim.codecs.options import CodecOptions
from seriatim.data.options import SeriesOptions
from seriatim.models.options import KEEP_ALL, NetworkOptions
from seriatim.settings import Numbers, option, some_of
from seriatim.tasks.base.options import EvaluateOptions

KNOWN = 0.8  # share of each series that a comparison fits to, and after which a backtest begins
ONLY = "of several series the one of this name"


@dataclass(frozen=True)
class RuleOptions:
    """A forecast by a rule."""

    horizon: int = option(24, "how many steps ahead", least=1, most=10_000)
    context: int = option(96, "how many steps back are looked at", least=1, most=100_000)
    gap: int = option(
        0, "steps between what is known and the first one that is forecast", least=0, most=10_000
    )

    @property
    def reach(self) -> int:
        """How many steps ahead the last one is."""
        return self.gap + self.horizon


@dataclass(frozen=True)
class SmoothingOptions(RuleOptions):
    """Level, trend and season, each a mean that forgets."""

    trend: bool = option(True, "there is a trend, which fades")
    seasonal: bool = option(True, "there is a season, where the context holds two of them")


@dataclass(frozen=True)
class ThetaOptions(RuleOptions):
    """A mean that forgets, and half the slope."""

    seasonal: bool = option(True, "there is a season, where the context shows one")


@dataclass(frozen=True)
class AutoregressionOptions(RuleOptions):
    """Each value a weighted sum of those before it."""

    order: int = option(12, "of how many", least=1, most=10_000)
    cross: bool = option(False, "channels hear each other")


@dataclass(frozen=True)
class LagsOptions(RuleOptions):
    """Features of the past, and a regression on them."""

    windows: Numbers = option(
        KEEP_ALL,
        "also mean, deviation, least and largest of the last so many values, such as 7,28",
        least=2,
        most=100_000,
    )
    own: bool = option(False, "a regression for each channel, otherwise one for all")
    strength: float = option(
        0.0,
        "ridge: penalty on squares; 0: what does best on the end of the training data, where calm windows may weigh more",
        least=0,
    )
    trees: int = option(100, "boosting: number of trees", least=1, most=10_000)


@dataclass(frozen=True)
class ForecastOptions(NetworkOptions):
    """The stack of the language models between numbers."""

    horizon: int = option(24, "how many steps ahead", least=1, most=10_000)
    context: int = option(96, "how many steps back are looked at", least=1, most=100_000)
    gap: int = option(
        0, "steps between what is known and the first one that is forecast", least=0, most=10_000
    )
    strategy: str = option(
        "direct",
        "the whole horizon at once, or step by step, each conditioned on the one before",
        choices=("direct", "recursive"),
    )
    density: str = option(
        "normal",
        "what is said of each value; square: its mean, learned by squared error, with deviations of errors on validation data",
        choices=("normal", "square", "student", "quantiles", "mixture", "bins"),
    )
    components: int = option(5, "mixture: number of normals", least=1, most=1000)
    bins: int = option(
        64, "bins: number of intervals that values are sorted into", least=2, most=10_000
    )
    channel_independent: bool = option(
        True,
        "each channel is forecast from its own past, by the same network; otherwise from that of all channels",
    )
    linear: bool = option(True, "add a linear map of the past, which the network corrects")
    normalise: str = option(
        "last",
        "direct: values are read and said relative to the last one, or to the mean of the window in units of its deviation",
        choices=("last", "mean", "none"),
    )

    @property
    def reach(self) -> int:
        """How many steps ahead the last one is."""
        return self.gap + self.horizon


@dataclass(frozen=True)
class BacktestOptions:
    """Walk-forward validation: at each origin the future is forecast from the past alone."""

    begin: str = option(
        "",
        "first moment to be forecast: a row number, a share such as 0.8, or a date (default: the last fifth)",
    )
    end: str = option(
        "", "first moment that is not judged: a row number, a share or a date (default: the end)"
    )
    whole: bool = option(
        True,
        "only origins whose whole horizon comes, where a series has room for one; "
        "otherwise those near its end, too, of which first steps are judged",
    )
    stride: int = option(1, "steps from one origin to the next", least=1)
    refit: int = option(
        0, "fit again after so many origins, on all that is known then; 0: never", least=0
    )
    sliding: int = option(0, "refit: on the last so many steps only; 0: on all", least=0)
    paths: int = option(
        200, "step by step: sample paths from which quantiles are taken", least=1, most=100_000
    )


@dataclass(frozen=True)
class MeasureOptions(BacktestOptions):
    """The same, from where other data end."""

    past: str = option(
        "",
        "a file with what came before: its series go on in the data, which are forecast from where"
        " they begin, one horizon after another",
    )


@dataclass(frozen=True)
class WalkOptions(BacktestOptions):
    """The same, to be looked at: by default one horizon after another, up to the end."""

    begin: str = option(
        "",
        "first moment to be forecast: a row number, a share such as 0.8, or a date (default: twelve "
        "horizons before the end, or the second half)",
    )
    stride: int = option(0, "steps from one origin to the next; 0: a horizon", least=0)
    whole: bool = option(False, "only origins whose whole horizon comes")
    only: str = option("", ONLY)


SERIES = "scale each season log difference calendar"
SeriesCoding = some_of(CodecOptions, "SeriesCoding", SERIES, each=True)


@dataclass(frozen=True)
class EvaluateForecastOptions(EvaluateOptions, MeasureOptions):
    """Where to walk, and what to compare with."""


@dataclass(frozen=True)
class PathOptions:
    """What comes."""

    paths: int = option(0, "also so many sample paths, of models that go step by step", least=0)
    only: str = option("", ONLY)


@dataclass(frozen=True)
class ConformalOptions:
    """What a fit may be asked for besides."""

    calibrate: bool = option(False, "intervals that hold, from errors on validation data")


@dataclass(frozen=True)
class LagTableOptions(SeriesOptions):
    """Series as a table for any regressor."""

    lags: int = option(12, "how many values before each are columns", least=1, most=10_000)
    horizon: int = option(1, "how many values are to be learned", least=1, most=10_000)
    windows: Numbers = option(
        Numbers(),
        "mean, deviation, least and largest of the last so many: 7,28",
        least=2,
        most=100_000,
    )
    out: str = option("", "the table to write: .csv, .tsv, .parquet; default: show its first rows")
