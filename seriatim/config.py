"""The one home of every default.

Each piece of the library is set by a dataclass below. Command-line flags, `config.toml`, the docs and
the checks are all derived from it: an unknown key is an error that names the nearest one, and all
problems are reported at once. Nothing here imports torch, so that `--help` answers at once.
"""
from __future__ import annotations

from dataclasses import dataclass

from seriatim.settings import Bytes, Numbers, option

NO_LIMIT, KEEP_ALL = Bytes(0), Numbers()
UNITS = ("character", "byte", "word", "token", "subword")


@dataclass(frozen=True)
class CodecOptions:
    """From raw text to symbols and back."""
    unit: str = option("character", "what counts as one symbol", choices=UNITS)
    vocabulary: int | None = option(None, "keep at most this many symbols (subword: how many to learn, default 1000)", least=3)
    minimum_count: int = option(1, "a symbol seen less often than this in training is unknown", least=1)
    lower: bool = option(False, "lower-case the text first")
    method: str = option("byte-pair", "how subwords are learned", choices=("byte-pair", "unigram"))
    phrases: int = option(0, "word: join pairs of words that stand together more often than chance, in so many rounds: 1 gives pairs, 2 up to four words",
                          least=0, most=4)
    phrase_score: float = option(10.0, "phrases: how much more often; higher joins fewer", above=0)
    target_unit: str | None = option(None, "translate: what counts as one symbol of the target (default: as of the source)", choices=UNITS)
    shared: bool = option(False, "translate: one vocabulary for source and target")
    scale: str = option("standard", "numbers: mean 0 and variance 1 by the training data, or as they are", choices=("standard", "none"))
    each: bool = option(False, "numbers: scaled by the training data of each series, not of all")
    log: bool = option(False, "numbers: their logarithms; all must be positive")
    difference: int = option(0, "numbers: differences to the value so many steps before; 0: the values themselves", least=0, most=100_000)
    calendar: bool = option(False, "numbers: hour, day and month of each moment are inputs, too")
    given: str = option("", "autoencode: fields that say what to write, with commas between, such as label: a class, an author, a style")


@dataclass(frozen=True)
class UniformOptions:
    """Every symbol is equally likely."""


@dataclass(frozen=True)
class UnigramOptions:
    """How frequent each symbol is, whatever came before."""
    add: float = option(1.0, "pseudo-count added to every symbol; 0 gives plain relative frequencies", least=0)


@dataclass(frozen=True)
class MostFrequentOptions:
    """The tags a word has had, and those of words that end alike."""
    suffix: int = option(7, "words are also judged by their last letters, up to this many", least=0, most=32)
    rare: int = option(10, "endings are learned from words seen at most this often", least=1)
    ending_trust: float = option(2.0, "weight of a shorter ending, in words seen", above=0)
    word_trust: float = option(0.3, "weight of what its ending says about a known word, in times seen", above=0)


@dataclass(frozen=True)
class HmmOptions(MostFrequentOptions):
    """The same, and which tags follow each other."""
    order: int = option(1, "how many tags back a tag depends on; 2 is a little better and ten times slower", choices=(1, 2))
    tag_trust: float = option(20.0, "weight of a shorter context, in tags seen", above=0)


@dataclass(frozen=True)
class HiddenOptions:
    """States that are never seen, found in untagged sequences."""
    states: int = option(32, "number of states", least=1, most=4096)
    starts: int = option(8, "places where the search begins; after a few passes over some of the data it goes on from the best", least=1, most=10_000)
    sweeps: int = option(100, "passes over the data at most", least=1)
    tolerance: float = option(1e-4, "stop when a pass gains less than this, in nats per symbol", least=0)
    add: float = option(0.01, "pseudo-count added to every symbol of every state in the end", least=0)
    seed: int = option(0, "random numbers: where the search begins", least=0, most=2**31 - 1)


@dataclass(frozen=True)
class MarkovOptions:
    """Relative frequencies of what followed the last `order` symbols."""
    order: int = option(3, "how many previous symbols are looked at: 1 counts pairs, 2 triples", least=0, most=16)
    add: float = option(0.01, "pseudo-count added to every symbol; 0 gives plain relative frequencies", least=0)
    memory: Bytes = option(NO_LIMIT, "count in about this much memory, for instance 1GB, and on disk what does not fit; 0 is no limit", least=0)


@dataclass(frozen=True)
class NgramOptions:
    """Counts of all lengths up to this one, each leaning on the shorter."""
    order: int = option(6, "length of the longest n-gram: 2 looks at one previous symbol, 6 at five", least=1, most=24)
    smoothing: str = option("modified-kneser-ney", "how counts become probabilities",
                            choices=("modified-kneser-ney", "kneser-ney", "absolute", "witten-bell", "good-turing"))
    closed: bool = option(False, "nothing is unknown: <unk> is impossible unless the training data has it")
    memory: Bytes = option(NO_LIMIT, "count in about this much memory, for instance 1GB, and on disk what does not fit; 0 is no limit", least=0)
    prune: Numbers = option(KEEP_ALL, "leave out n-grams seen at most this often, a number for each length: 0,0,1 drops triples and longer seen once", least=0)
    threshold: float = option(0.0, "leave out n-grams without which perplexity rises by less than this share: 1e-8 to 1e-6 are usual", least=0)
    bits: int = option(32, "store probabilities in this many bits", choices=(8, 32))


@dataclass(frozen=True)
class CacheOptions:
    """Counts of the last symbols read, and of nothing else."""
    window: int = option(5000, "how many symbols back are remembered", least=1, most=1_000_000)
    match: int = option(5, "longest context that is compared with what was just read", least=0, most=64)
    trust: float = option(2.0, "weight of a shorter context, in symbols seen", above=0)


@dataclass(frozen=True)
class FrequenciesOptions:
    """How frequent each element is, whatever came before."""
    add: float = option(1.0, "pseudo-count added to both, being in a set and not being in it", above=0)


@dataclass(frozen=True)
class BigramOptions:
    """A matrix of logits: one row for each previous symbol."""


@dataclass(frozen=True)
class NetworkOptions:
    """Embedding, a stack of blocks around one kind of mixer, and a head."""
    mixer: str = option("lstm", "how a position hears the ones before it", choices=("none", "rnn", "gru", "lstm", "coupled", "convolution", "attention"))
    width: int = option(256, "size of the vector at each position", least=1, most=65536)
    layers: int = option(1, "number of blocks", least=1, most=1000)
    residual: bool = option(False, "add each part's input to its output, with a norm before or after")
    norm: str = option("layer", "with residual: LayerNorm or RMSNorm", choices=("layer", "rms"))
    norm_place: str = option("before", "with residual: before each part, or after it as in the first Transformer", choices=("before", "after"))
    feed_forward: float = option(0.0, "width of the feed-forward part, in multiples of the width; 0 leaves it out", least=0, most=64)
    feed: str = option("gelu", "activation of the feed-forward part", choices=("relu", "gelu", "gelu-tanh", "gated"))
    dropout: float = option(0.0, "share of activations dropped in training", least=0, most=0.95)
    weight_dropout: float = option(0.0, "recurrence: share of recurrent weights dropped in training", least=0, most=0.95)
    tied: bool = option(False, "the output layer shares the embedding's weights")
    output_bias: bool = option(True, "the output layer has a bias; without one a transformer can be written as a GPT-2")
    activation: str = option("tanh", "rnn and plain convolution: the nonlinearity", choices=("tanh", "sigmoid", "relu"))
    initial: str = option("orthogonal", "recurrence: how the recurrent weights begin", choices=("orthogonal", "uniform"))
    heads: int = option(4, "attention: number of heads", least=1)
    context: int = option(128, "attention: how many positions back, itself included", least=1)
    score: str = option("scaled", "attention: how well a query fits a key", choices=("dot", "scaled", "bilinear", "mlp"))
    maps: bool = option(True, "attention: queries, keys and values are learned maps of the vectors, not the vectors themselves")
    positions: str = option("rotary", "attention: how it knows where things stand", choices=("rotary", "sinusoidal", "learned", "none"))
    kernel: int = option(3, "convolution: width of the kernel, in positions", least=1, most=1024)
    gated: bool = option(True, "convolution: each value is let through by a gate; otherwise plain, with an activation")
    vectors: str = option("", "begin with these word vectors: a file of word2vec, GloVe or fastText, or a run of `fit words`; --width must be "
                         "theirs, but for labels, whose --embedding becomes theirs")
    frozen: bool = option(False, "the embedding stays as it begins")


@dataclass(frozen=True)
class LanguageOptions(NetworkOptions):
    """The same, for what comes next."""
    direct: int = option(0, "the last symbols also vote for the next one, beside the network: runs of up to this many, such as 8; 0: none", least=0, most=24)
    direct_dropout: float = option(0.0, "direct: share of votes that are not heard in training; a half, where data are read many times", least=0, most=0.95)
    cells: int = option(1 << 18, "direct: rows of the table that all n-grams share", least=1, most=1 << 27)


@dataclass(frozen=True)
class LabellerOptions(NetworkOptions):
    """The same stack, saying something about the sequences instead of going on with them."""
    both: bool = option(True, "each position hears what comes after it, too")
    embedding: int = option(0, "size of the word vectors; 0: as --width", least=0, most=65536)
    word_dropout: float = option(0.05, "share of words that are unknown in training, so that unknown ones are known", least=0, most=0.95)
    letters: str = option("no", "words are also read letter by letter", choices=("no", "convolution", "lstm", "affixes"))
    letter_width: int = option(64, "letters: size of what they say about the word", least=2, most=65536)


@dataclass(frozen=True)
class ClassifyOptions(LabellerOptions):
    """One label for a sequence."""
    pool: str = option("max", "how the vectors of all positions become one: the last, their mean or largest values, a mean weighed by attention, "
                       "or the vector of an extra position (unit)", choices=("last", "mean", "max", "attention", "unit"))


@dataclass(frozen=True)
class TagOptions(LabellerOptions):
    """One tag for each element."""
    chain: bool = option(False, "tags are judged together, by how they follow each other (CRF)")
    constrained: bool = option(True, "chain: of B-I-O tags only sequences that make sense")


@dataclass(frozen=True)
class TranslateOptions(NetworkOptions):
    """Two stacks: one reads the source, the other writes the target and hears what was read."""
    context: int = option(1024, "attention: how many positions back, itself included", least=1)
    encoder: str = option("", "how a position of the source hears the others (default: as --mixer)",
                          choices=("", "none", "rnn", "gru", "lstm", "coupled", "convolution", "attention"))
    encoder_layers: int = option(0, "number of blocks that read the source; 0: as --layers", least=0, most=1000)
    both: bool = option(True, "each position of the source hears what comes after it, too")
    memory: str = option("matrix", "what is kept of the source: one vector, given to every step and every output; or the vectors of all its positions, "
                         "attended to", choices=("vector", "matrix"))
    grams: int = option(0, "each symbol of the source is also known by frequent n-grams around it, up to this long, such as 6; 0: none", least=0, most=24)
    grams_dropout: float = option(0.5, "grams: share of them that are not heard in training", least=0, most=0.95)
    cells: int = option(1 << 16, "grams: how many of the most frequent have a vector", least=1, most=1 << 27)
    feeding: bool = option(False, "what was heard at one step is an input of the next (input feeding); recurrent decoders, slower to train")
    scheduled: float = option(0.0, "share of inputs that are the model's own guesses at the end of training, rising from none (scheduled sampling)",
                              least=0, most=1)
    judge: str = option("loss", "what validation looks at: nats per symbol of the references, or what greedy translations are worth",
                        choices=("loss", "bleu", "chrf", "exact"))


@dataclass(frozen=True)
class AutoencodeOptions(NetworkOptions):
    """A stack that reads a sequence into one vector, and one that writes it again."""
    context: int = option(1024, "attention: how many positions back, itself included", least=1)
    encoder: str = option("", "how a position hears the others when the sequence is read (default: as --mixer)",
                          choices=("", "none", "rnn", "gru", "lstm", "coupled", "convolution", "attention"))
    both: bool = option(True, "when it is read, each position hears what comes after it, too")
    latent: int = option(32, "size of the vector; 0: none, the sequence is written from nothing but what is --given", least=0, most=65536)
    variational: bool = option(True, "the vector is a normal distribution near the one that samples are drawn from; otherwise just a vector")
    into: str = option("both", "how the writer receives the vector: as its first state, at every step, or both", choices=("state", "every", "both"))
    forcing: bool = option(True, "what was written before is an input (teacher forcing); otherwise the vector is all that is known")
    word_dropout: float = option(0.0, "share of the inputs of the writer that are unknown in training, so that it needs the vector", least=0, most=1)
    annealing: str = option("linear", "variational: how the price of a vector rises in training", choices=("none", "linear", "cyclic"))
    rising: float = option(0.3, "linear: share of training until it is full; cyclic: there are four cycles, and this is the share of each", above=0, most=1)
    free: float = option(0.0, "variational: nats by which each number of the vector may tell sequences apart for nothing (free bits)", least=0, most=100)
    components: int = option(10, "numbers: how many normals are mixed", least=1, most=1000)


@dataclass(frozen=True)
class LexiconOptions:
    """Which symbols of the target go with which of the source, and which follow each other."""
    rounds: int = option(8, "rounds of expectation and maximisation", least=1, most=1000)
    spread: float = option(0.15, "how far from the diagonal a symbol looks for its source, as a share of the length", above=0, most=10)
    least: float = option(1e-4, "translations less probable than this are forgotten", least=0, most=0.5)
    order: int = option(2, "length of the n-grams of the target", least=1, most=12)


@dataclass(frozen=True)
class JointOptions:
    """Units of a symbol of the source with what is written for it, and n-grams of them."""
    order: int = option(7, "length of the n-grams of units", least=1, most=12)
    longest: int = option(2, "most symbols that are written for one of the source", least=1, most=6)
    rounds: int = option(12, "rounds of expectation and maximisation", least=1, most=1000)
    rarest: int = option(2, "units that occur less often are not used", least=1, most=10**9)
    best: int = option(32, "how many ways to write a target are kept while a source is read", least=1, most=10_000)


@dataclass(frozen=True)
class MajorityOptions:
    """How frequent each label is."""


@dataclass(frozen=True)
class AverageOptions:
    """The mean and the deviation of the training values."""


@dataclass(frozen=True)
class NaiveBayesOptions:
    """How frequent each symbol is under each label."""
    add: float = option(1.0, "pseudo-count added to every symbol", above=0)
    ngram: int = option(1, "also runs of up to this many symbols", least=1, most=8)
    presence: bool = option(False, "a symbol counts once in a sequence, however often it stands there")
    prior: str = option("counts", "probability of the labels beforehand", choices=("counts", "uniform"))


@dataclass(frozen=True)
class MarkovBayesOptions:
    """A model that counts for each label."""
    counts: str = option("markov", "which model is counted for each label",
                         choices=("unigram", "markov", "kneser-ney", "witten-bell", "absolute", "good-turing"))
    order: int = option(1, "as of that model: markov looks at so many symbols, the others count n-grams of that length", least=0, most=16)
    add: float = option(0.1, "unigram and markov: pseudo-count added to every symbol", above=0)
    prior: str = option("counts", "probability of the labels beforehand", choices=("counts", "uniform"))


@dataclass(frozen=True)
class LinearOptions:
    """A weight for each n-gram and label."""
    ngram: int = option(2, "runs of up to this many symbols", least=1, most=8)
    weighting: str = option("bayes", "what an n-gram weighs: its count, tf-idf, or presence times the log-ratio of naive Bayes (NBSVM)",
                            choices=("counts", "tf-idf", "bayes"))
    strength: float = option(1.0, "how far weights may grow: the inverse of the penalty on their squares", above=0)
    least: int = option(1, "n-grams seen in fewer training sequences are left out", least=1)


@dataclass(frozen=True)
class RidgeOptions:
    """A weight for each n-gram, or for each trait of a sequence of numbers."""
    ngram: int = option(2, "runs of up to this many symbols", least=1, most=8)
    weighting: str = option("tf-idf", "what an n-gram weighs: its count, or tf-idf", choices=("counts", "tf-idf"))
    strength: float = option(0.0, "how far weights may grow: the inverse of the penalty on their squares; 0: found on the training data", least=0)
    least: int = option(1, "n-grams seen in fewer training sequences are left out", least=1)


@dataclass(frozen=True)
class VectorsOptions:
    """A vector for each word, found by guessing words from their neighbours."""
    width: int = option(100, "size of each vector", least=1, most=65536)
    window: int = option(5, "how many words to each side are its neighbours", least=1, most=1000)
    shrink: bool = option(True, "the reach of each window is drawn between 1 and --window, so that near words count more")
    output: str = option("negative", "how a guess is judged: against all words, against a few drawn at random, or along a Huffman tree",
                         choices=("softmax", "negative", "hierarchical"))
    negatives: int = option(5, "negative: how many words are drawn", least=1, most=1000)
    power: float = option(0.75, "negative: words are drawn by their frequency to this power", least=0, most=2)
    subsample: float = option(1e-4, "words more frequent than this share of the text are often left out; 0 keeps all", least=0, most=1)
    exact: bool = option(True, "cbow and subwords: the exact gradient; otherwise word2vec's own, the whole of it to each word")
    subwords: Numbers = option(KEEP_ALL, "also a vector for each run of characters from and to these lengths, such as 3,6: unseen words have vectors, too",
                               least=1, most=100)
    buckets: int = option(100_000, "subwords: how many vectors they share", least=1, most=10**8)
    deterministic: bool = option(False, "the same seed and number of threads give the same bits; otherwise threads do not wait for each other")
    watch: str = option("", "a file of analogies or of similarities: looked at with every validation")


@dataclass(frozen=True)
class GloveOptions:
    """A vector for each word, such that products of vectors are logarithms of how often words stand together."""
    width: int = option(100, "size of each vector", least=1, most=65536)
    window: int = option(10, "how many words to each side are its neighbours", least=1, most=1000)
    most: float = option(100.0, "glove: pairs that stand together this often or more count fully", above=0)
    fading: float = option(0.75, "glove: pairs that stand together less often count by their share of --most to this power", least=0, most=2)
    deterministic: bool = option(False, "the same seed and number of threads give the same bits; otherwise threads do not wait for each other")
    watch: str = option("", "a file of analogies or of similarities: looked at with every validation")


@dataclass(frozen=True)
class TrainingOptions:
    """The gradient loop."""
    minutes: float | None = option(None, "wall-clock budget; the schedule ends when it does (3 if no limit is given)", above=0, most=1e6)
    steps: int | None = option(None, "number of updates (repeatable to the bit, unlike --minutes)", least=1, most=10**12)
    epochs: float | None = option(None, "number of passes over the training data", above=0, most=1e6)
    rows: int = option(16, "sequences side by side in a batch; 0: under --minutes as many as a short trial finds worth it", least=0)
    length: int = option(64, "stream: symbols between two updates", least=1)
    reach: int = option(0, "stream: how far back gradients flow, in symbols; 0: as far as --length", least=0)
    accumulate: int = option(1, "batches whose gradients are added up for one update", least=1)
    carry: bool = option(True, "stream: keep the state from one update to the next")
    optimiser: str = option("adamw", "how gradients become updates", choices=("muon", "adamw", "sgd"))
    rate: float = option(3e-3, "highest learning rate", above=0)
    warmup: float = option(0.02, "share of the schedule spent rising to that rate", least=0, most=1)
    decay: str = option("linear", "how the rate falls afterwards; plateau: to a quarter whenever validation has not improved twice",
                        choices=("linear", "cosine", "inverse-square-root", "plateau", "constant"))
    momentum: float = option(0.9, "sgd: share of the last update kept", least=0, most=0.9999)
    weight_decay: float = option(0.01, "pull of the weight matrices towards zero", least=0)
    clip: float = option(1.0, "largest gradient norm; 0 lets it grow", least=0)
    clip_value: float = option(0.0, "largest value of a single gradient; 0 lets it grow", least=0)
    label_smoothing: float = option(0.0, "share of each target spread over all symbols", least=0, most=0.9)
    average: str = option("no", "keep a mean of the weights: a moving one, all since validation stopped improving (as in ASGD), or those at the last few "
                          "validations", choices=("no", "moving", "plateau", "checkpoints"))
    checkpoints: int = option(5, "average checkpoints: of how many", least=1, most=1000)
    average_decay: float = option(0.99, "moving average: share of the old mean kept at each update", least=0, most=0.99999)
    precision: str = option("auto", "numbers in forward and backward; auto: bfloat16 under --minutes if a short trial shows that it is faster",
                            choices=("auto", "float32", "bfloat16"))
    compile: str = option("auto", "compile the model; auto: if the budget is 10 minutes or more and a trial shows that it pays", choices=("auto", "yes", "no"))
    validations: int = option(12, "how often to look at the validation data in the whole schedule", least=1)
    patience: int = option(0, "stop after this many validations without a better one; 0 never does", least=0)
    checkpoint_seconds: float = option(20.0, "time between two checkpoints, more where they take long; 0: after every update", least=0)
    seed: int = option(0, "random numbers: initial weights, order of the data, dropout", least=0, most=2**31 - 1)
    threads: int = option(0, "processor threads; 0 takes as many as torch would", least=0, most=4096)


@dataclass(frozen=True)
class RuleOptions:
    """A forecast by a rule."""
    horizon: int = option(24, "how many steps ahead", least=1, most=10_000)
    context: int = option(96, "how many steps back are looked at", least=1, most=100_000)
    season: int = option(0, "steps of a season; 0: what the calendar suggests (24 hours, 12 months)", least=0, most=100_000)


@dataclass(frozen=True)
class SmoothingOptions(RuleOptions):
    """Level, trend and season, each a mean that forgets."""
    trend: bool = option(True, "there is a trend, which fades")
    seasonal: bool = option(True, "there is a season, where the context holds two of them")


@dataclass(frozen=True)
class AutoregressionOptions(RuleOptions):
    """Each value a weighted sum of those before it."""
    order: int = option(12, "of how many", least=1, most=10_000)
    cross: bool = option(False, "channels hear each other")


@dataclass(frozen=True)
class LagsOptions(RuleOptions):
    """Features of the past, and a regression on them."""
    windows: Numbers = option(KEEP_ALL, "also mean, deviation, least and largest of the last so many values, such as 7,28", least=2, most=100_000)
    own: bool = option(False, "a regression for each channel, otherwise one for all")
    strength: float = option(0.0, "ridge: penalty on squares; 0: what does best on the end of the training data, where calm windows may weigh more", least=0)
    trees: int = option(100, "boosting: number of trees", least=1, most=10_000)


@dataclass(frozen=True)
class ForecastOptions(NetworkOptions):
    """The stack of the language models between numbers."""
    horizon: int = option(24, "how many steps ahead", least=1, most=10_000)
    context: int = option(96, "how many steps back are looked at", least=1, most=100_000)
    way: str = option("whole", "the whole horizon at once, or step by step, each hearing the one before", choices=("whole", "step"))
    density: str = option("normal", "what is said of each value; square: its mean, learned by squared error, with deviations of errors on validation data",
                          choices=("normal", "square", "student", "quantiles", "mixture", "bins"))
    components: int = option(5, "mixture: number of normals", least=1, most=1000)
    bins: int = option(64, "bins: number of intervals that values are sorted into", least=2, most=10_000)
    apart: bool = option(True, "each channel is forecast from its own past, by the same network; otherwise from that of all channels")
    linear: bool = option(True, "add a linear map of the past, which the network corrects")
    normalise: str = option("last", "whole: values are heard and said relative to the last one, or to the mean of the window in units of its deviation",
                            choices=("last", "mean", "none"))


DEFAULT_MINUTES = 3.0      # the budget when neither minutes, steps nor epochs is given
DEFAULT_BY = {"sets": "line", "translate": "line", "autoencode": "line"}      # how text is cut when it is not said, by task; all others: as its format is


@dataclass(frozen=True)
class BacktestOptions:
    """Walk-forward validation: at each origin the future is forecast from the past alone."""
    begin: str = option("", "first moment to be forecast: a row number, a share such as 0.8, or a date (default: the last fifth)")
    end: str = option("", "first moment that is not: a row number, a share or a date (default: the end)")
    stride: int = option(1, "steps from one origin to the next", least=1)
    gap: int = option(0, "steps between what is known and the first one that is forecast", least=0)
    refit: int = option(0, "fit again after so many origins, on all that is known then; 0: never", least=0)
    sliding: int = option(0, "refit: on the last so many steps only; 0: on all", least=0)
    paths: int = option(200, "step by step: sample paths from which quantiles are taken", least=1, most=100_000)


@dataclass(frozen=True)
class DecodingOptions:
    """From distributions to sequences."""
    length: int = option(200, "symbols to write at most", least=0)
    temperature: float = option(1.0, "below 1 is bolder towards the likely, above 1 more varied; 0 is greedy", least=0)
    top_k: int = option(0, "sample among the k most likely symbols; 0 is all", least=0)
    top_p: float = option(1.0, "sample among the most likely symbols that together have this probability", above=0, most=1)
    min_p: float = option(0.0, "leave out symbols below this share of the most likely one", least=0, most=1)
    repetition_penalty: float = option(1.0, "above 1 makes symbols already written less likely", above=0)
    beam: int = option(0, "width of beam search; 0: none", least=0, most=4096)
    length_penalty: float = option(1.0, "beam: scores are divided by length to this power", least=0)
    coverage: float = option(0.0, "translate, beam: how much it counts that all of the source was heard (Wu et al. 2016)", least=0)
    prefix: str = option("", "what every result begins with")
    must: str = option("", "translate, beam: words or phrases, with commas between, that every result has")
    never: str = option("", "words or phrases, with commas between, that no result has")
    risk: int = option(0, "translate: of so many samples the one nearest to all others (minimum Bayes risk)", least=0, most=10_000)
    exact: bool = option(False, "the most probable sequence of all of this length, for count models of low order")
    draft: str = option("", "run folder of a cheap model that guesses ahead: the same text, sooner (see docs/decoding.md)")
    ahead: int = option(4, "draft: how many symbols it guesses ahead", least=1, most=64)
    count: int = option(1, "how many results (with --beam: the n best, of a beam at least as wide)", least=1, most=100_000)
    seed: int = option(0, "random numbers of the first result; each further one adds 1", least=0)
    stop: str = option("", "end a result at this symbol, which is not written")
