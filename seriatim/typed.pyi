"""Settings, options and what fits give, by task. Written by `python -m tests.typed`: do not edit."""

# mypy: disable-error-code="override"

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack, overload

from seriatim.data.sequences import Sequences
from seriatim.faces import Result
from seriatim.models.base import Model
from seriatim.models.ladder import Rung
from seriatim.runs.predictor import Predictor, Source
from seriatim.show.charts import Chart
from seriatim.tasks.autoencode.predictor import Autoencoding
from seriatim.tasks.classify.predictor import Classifier
from seriatim.tasks.forecast.predictor import Forecaster
from seriatim.tasks.language.predictor import LanguagePredictor
from seriatim.tasks.marks.predictor import Marker
from seriatim.tasks.regress.predictor import Regressor
from seriatim.tasks.sets.predictor import SetPredictor
from seriatim.tasks.tag.predictor import Tagger
from seriatim.tasks.translate.predictor import Translator
from seriatim.tasks.words.predictor import WordPredictor

Words = str | float | PathLike[str]  # as it would be typed

class Settings(TypedDict, total=False):
    input_format: Words
    """text, csv, tsv, jsonl, parquet, conllu, columns, labelled, fasta, pgn, moves, wav, png, pixels, midi, roll, svg, strokes, quickdraw; default: as the name of the file ends"""
    columns: Words
    """names of the columns of a table without a header: label,text; of CoNLL-U: form,xpos, and further fields"""
    decimal: Literal['', 'point', 'comma']
    """csv, tsv: the mark before decimals; default: as found"""
    encoding: Words
    """of text: latin-1, utf-16, ...; default: UTF-8, or a guess"""
    seed: int
    """random numbers: where the search begins"""
    width: int
    """size of the vector at each position"""
    minutes: float | None
    """wall-clock budget; the schedule ends when it does (3 if no limit is given)"""
    updates: int | None
    """number of updates (repeatable to the bit, unlike --minutes)"""
    epochs: float | None
    """number of passes over the training data"""
    least_updates: int
    """with --epochs: as many more as it takes for so many updates, of small data"""
    rows: int
    """sequences side by side in a batch; 0: under --minutes as many as a short trial finds worth it"""
    length: int
    """stream: symbols between two updates"""
    bptt: int
    """stream: how far back gradients flow, in symbols; 0: as far as --length"""
    accumulate: int
    """batches whose gradients are added up for one update"""
    stateful: bool
    """stream: keep the state from one update to the next"""
    optimiser: Literal['muon', 'adamw', 'sgd']
    """how gradients become updates"""
    rate: float
    """highest learning rate"""
    warmup: float
    """share of the schedule spent rising to that rate"""
    decay: Literal['linear', 'cosine', 'inverse-square-root', 'plateau', 'constant']
    """how the rate falls afterwards; plateau: to a quarter whenever validation has not improved twice"""
    momentum: float
    """sgd: share of the last update kept"""
    weight_decay: float
    """pull of the weight matrices towards zero"""
    clip: float
    """largest gradient norm; 0 lets it grow"""
    clip_value: float
    """largest value of a single gradient; 0 lets it grow"""
    label_smoothing: float
    """share of each target spread over all symbols"""
    average: Literal['no', 'moving', 'plateau', 'checkpoints']
    """keep a mean of the weights: a moving one, all since validation stopped improving (as in ASGD), or those at the last few validations"""
    checkpoints: int
    """average checkpoints: of how many"""
    average_decay: float
    """moving average: share of the old mean kept at each update"""
    precision: Literal['auto', 'float32', 'bfloat16']
    """numbers in forward and backward; auto: bfloat16 under --minutes if a short trial shows that it is faster"""
    compile: Literal['auto', 'yes', 'no']
    """compile the model; auto: if the budget is 10 minutes or more and a trial shows that it pays"""
    validations: int
    """how often to look at the validation data in the whole schedule"""
    patience: int
    """stop after this many validations without a better one; 0 never does"""
    checkpoint_seconds: float
    """time between two checkpoints, more where they take long; 0: after every update"""
    threads: int
    """processor threads; 0 takes as many as torch would"""
    device: Literal['auto', 'cpu', 'cuda', 'mps']
    """where networks compute; auto: cuda, else mps, else cpu"""

class LanguageSettings(Settings, total=False):
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    distinct: bool
    """of equal sequences keep the first only"""
    greys: int
    """png: greys to which pixels are rounded; 0: 8"""
    unit: Literal['character', 'byte', 'word', 'token', 'subword']
    """what counts as one symbol"""
    vocabulary: int | None
    """keep at most this many symbols (subword: how many to learn, default 1000)"""
    minimum_count: int
    """a symbol seen less often than this in training is unknown"""
    lower: bool
    """lower-case the text first"""
    method: Literal['byte-pair', 'unigram']
    """how subwords are learned"""
    tokenizer: Words
    """a tokenizer made elsewhere: a file tokenizer.json or a sentencepiece .model; the unit is then subword"""
    phrases: int
    """word: join pairs of words that stand together more often than chance, in so many rounds: 1 gives pairs, 2 up to four words"""
    phrase_score: float
    """phrases: how much more often; higher joins fewer"""
    add: float | None
    """pseudo-count added to every symbol; 0 gives plain relative frequencies"""
    order: int
    """how many previous symbols are looked at: 1 counts pairs, 2 triples"""
    first: Literal['start', 'unigram']
    """what the first symbols of a sequence follow: its start, a symbol of its own, or nothing, so that the first is as likely as anywhere (unigram)"""
    ends: bool
    """the end of a sequence is a symbol, too; false: it has no factor"""
    closed: bool
    """the vocabulary is what was seen and nothing is kept for what is unknown; with `add` every symbol has 1 / V after a context never seen"""
    memory: int | str
    """count in about this much memory, for instance 1GB, and on disk what does not fit; 0 is no limit"""
    smoothing: Literal['modified-kneser-ney', 'kneser-ney', 'absolute', 'witten-bell', 'good-turing']
    """how counts become probabilities"""
    prune: int | str | Sequence[int]
    """leave out n-grams seen at most this often, a number for each length: 0,0,1 drops triples and longer seen once"""
    threshold: float
    """leave out n-grams without which perplexity rises by less than this share: 1e-8 to 1e-6 are usual"""
    bits: Literal[8, 32]
    """store probabilities in this many bits"""
    window: int
    """how many symbols back are remembered"""
    match: int
    """longest context that is compared with what was just read"""
    trust: float
    """weight of a shorter context, in symbols seen"""
    states: int
    """number of states"""
    starts: int
    """places where the search begins; after a few passes over some of the data it goes on from the best"""
    sweeps: int
    """passes over the data at most"""
    tolerance: float
    """stop when a pass gains less than this, in nats per symbol"""
    mixer: Literal['none', 'rnn', 'gru', 'gru-before', 'additive-recurrent', 'lstm', 'coupled', 'no-output-gate', 'additive', 'convolution', 'attention']
    """how a position sees the ones before it"""
    layers: int
    """number of blocks"""
    residual: bool
    """add each part's input to its output, with a norm before or after"""
    norm: Literal['layer', 'rms']
    """with residual: LayerNorm or RMSNorm"""
    norm_place: Literal['before', 'after']
    """with residual: before each part, or after it as in the first Transformer"""
    feed_forward: float
    """width of the feed-forward part, in multiples of the width; 0 leaves it out"""
    feed_forward_activation: Literal['relu', 'gelu', 'gelu-tanh', 'gated']
    """activation of the feed-forward part"""
    dropout: float
    """share of activations dropped in training"""
    weight_dropout: float
    """recurrence: share of recurrent weights dropped in training"""
    tied: bool
    """the output layer shares the embedding's weights"""
    output_bias: bool
    """the output layer has a bias; without one a transformer can be written as a GPT-2"""
    activation: Literal['tanh', 'sigmoid', 'relu']
    """rnn and plain convolution: the nonlinearity"""
    initial: Literal['orthogonal', 'uniform']
    """recurrence: how the recurrent weights begin"""
    cell_output: Literal['tanh', 'linear']
    """lstm, coupled, no-output-gate: h is made of tanh(c), or of c itself"""
    norm_inside: bool
    """recurrence: LayerNorm of W x and of U h within each step (Ba et al. 2016)"""
    radius: float
    """recurrence: scale the recurrent matrices to this spectral radius at the start; 0 leaves them as --initial makes them"""
    heads: int
    """attention: number of heads"""
    context: int
    """attention: how many positions back, itself included"""
    score: Literal['dot', 'scaled', 'bilinear', 'mlp', 'uniform']
    """attention: how well a query fits a key"""
    head_width: int
    """attention: numbers of each head's queries, keys and values; 0: width / heads"""
    maps: bool
    """attention: queries, keys and values are learned maps of the vectors, not the vectors themselves"""
    positions: Literal['rotary', 'sinusoidal', 'learned', 'concatenated', 'none']
    """attention: how it knows where things stand"""
    kernel: int
    """convolution: width of the kernel, in positions"""
    dilation: int
    """convolution: a position hears every so many-th before it; 1: plain, 0: doubling with each layer"""
    gated: bool
    """convolution: each value is let through by a gate; otherwise plain, with an activation"""
    word_vectors: Words
    """begin with these word vectors: a file of word2vec, GloVe or fastText, or a run of `fit words`; --width must be theirs, but for labels, whose --embedding becomes theirs"""
    frozen: bool
    """the embedding stays as it begins"""
    direct: int | None
    """the last symbols also vote for the next one, beside the network: runs of up to this many; 0: none (default: 8 by character or byte beside an lstm or gru of width 128 or more)"""
    direct_dropout: float
    """direct: share of votes that are not heard in training; a half, where data are read many times"""
    cells: int | None
    """direct: rows of the table that all n-grams share (default: as many as make 64 MB, 262,144 at most)"""

class LanguageFit(LanguageSettings, total=False):
    resume: bool
    """go on with a fit that was killed"""
    overwrite: bool
    """replace the run that is there"""
    report: Words
    """page to write about the fit: .html"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""

class LanguageCompare(LanguageSettings, total=False):
    folds: int | None
    """every so many-th part of the data is the test in turn"""
    seeds: int
    """fits of each network from so many seeds: intervals then cover seeds, too"""
    margin: float
    """share of the best figure below which a difference does not matter"""
    units: Words
    """units with commas between: one table of all, on the same raw text (language)"""
    curve: bool
    """fit six sizes of the data, too: what more of it would give, and where models cross"""
    pretrained: Words
    """local folder of a pretrained model, in Hugging Face's layout: one more row, marked; nothing is downloaded"""
    max_size: int | None
    """bytes of a model to be recommended, at most"""
    min_speed: float | None
    """symbols per second of a model to be recommended, at least"""
    resume: bool
    """go on with a comparison that was killed: rows it has are kept"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""
    repeat: Words
    """folder or table.json of a comparison to do again: same data, models, settings, seeds"""
    valid: Source
    """a file of its own"""
    test: Source
    """a file of its own"""

class LanguageEvaluate(TypedDict, total=False):
    against: Predictor | None
    """another run: is this one better? by the test of the task's figure"""

class LanguagePredict(TypedDict, total=False):
    top: int
    """how many of the likeliest are shown"""

class LanguageGenerate(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    repetition_penalty: float
    """above 1 makes symbols already written less likely"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    exact: bool
    """the most probable sequence of all of this length, for count models of low order"""
    draft: Words
    """run folder of a cheap model that guesses ahead: the same text, sooner (see docs/decoding.md)"""
    ahead: int
    """draft: how many symbols it guesses ahead"""
    count: int
    """how many results (with --beam: the n best, at most its width)"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    stop: Words
    """end a result at this symbol, which is not written"""

class LanguageNgrams(TypedDict, total=False):
    top: int
    """how many symbols are shown"""

class LanguageFrequencies(TypedDict, total=False):
    phrases: Words
    """the phrases to be counted, with commas between"""
    date: Words
    """the field with the dates: 1843, 1843-05, 1843-05-01 and such"""
    every: Literal['year', 'month', 'day']
    """the period that is counted"""
    smooth: int
    """moving average over so many periods on each side"""
    unit: Literal['word', 'token', 'character']
    """what phrases are made of"""
    lower: bool
    """lower-case text and phrases first"""
    field: Words
    """the field with the text"""
    columns: Words
    """names of the columns of a table without a header"""
    input_format: Words
    """the format, if the ending does not tell"""

class LanguageEmbed(TypedDict, total=False):
    layer: int
    """of this layer, counted from 1; 0: behind the last"""
    each: Literal['position', 'sequence']
    """a vector for each position, or for each sequence their mean"""

class LanguageAttention(TypedDict, total=False):
    layer: int
    """only the heads of this layer, counted from 1; 0: of all"""
    head: int
    """only this head of each layer, counted from 1; 0: all"""

class LanguagePositions(TypedDict, total=False):
    most: int
    """how many positions, from the first on"""

class LanguageGates(TypedDict, total=False):
    layer: int
    """only this layer, counted from 1, the lowest; 0: all"""

class LanguageUnits(TypedDict, total=False):
    layer: int
    """only units of this layer, counted from 1; 0: of all"""
    unit: int
    """only this unit of each layer, counted from 1; 0: of all"""
    count: int
    """how many units, those first that are worth most"""
    marker: Literal['', 'quote', 'bracket', 'line', 'word', 'capital', 'digit']
    """the units that follow this best, as it stands in the text (default: those that change most)"""

class LanguageImpulse(TypedDict, total=False):
    radius: Words
    """spectral radii of the recurrent matrix, with commas between"""
    width: int
    """size of the state"""
    steps: int
    """how many steps after the push"""
    activation: Literal['linear', 'tanh']
    """what is applied to the state at each step"""
    seed: int
    """random numbers: matrix, inputs and push"""

class LanguageCompress(TypedDict, total=False):
    out: Words
    """the compressed file, such as book.srt"""

class LanguageRestore(TypedDict, total=False):
    out: Words
    """the text that was compressed"""

class LanguageExport(TypedDict, total=False):
    out: Words
    """what to write: .arpa, .arpa.gz, .arpa.xz; or a folder, for a GPT-2"""

class FittedLanguage(LanguagePredictor):
    def evaluate(self, data: Source, **options: Unpack[LanguageEvaluate]) -> Result:
        """How well it predicts other data: bits per character, with interval and protocol."""
    def score(self, data: Source) -> Result:
        """One line a sequence: natural-log probability, number of tokens, number unknown."""
    def predict(self, data: Source, **options: Unpack[LanguagePredict]) -> Result:
        """What comes next after each sequence."""
    def generate(self, prompt: str = ..., **options: Unpack[LanguageGenerate]) -> Result:
        """Let it write, after a prompt."""
    def ngrams(self, pattern: str, **options: Unpack[LanguageNgrams]) -> Result:
        """What stands at the * of a pattern, by a model that counts, and how the counts came to it."""
    def surprisal(self, data: Source) -> Result:
        """How many bits each symbol of a text costs."""
    def embed(self, data: Source, **options: Unpack[LanguageEmbed]) -> Result:
        """A vector for each position in its context, or for each sequence their mean."""
    def attention(self, data: Source, **options: Unpack[LanguageAttention]) -> Result:
        """Who attends to whom: a map for each head."""
    def positions(self, **options: Unpack[LanguagePositions]) -> Result:
        """What a transformer is told of each position: the vectors, or the angles."""
    def gates(self, text: str, **options: Unpack[LanguageGates]) -> Result:
        """How far the gates of an lstm or gru stand open while it reads a text."""
    def units(self, text: str, **options: Unpack[LanguageUnits]) -> Result:
        """What hidden units say along a text, and which follow its quotes, brackets, lines or words."""
    def gradient(self, data: Source) -> Result:
        """How far back the gradient of the loss reaches."""
    def influence(self, data: Source) -> Result:
        """How far back a symbol matters for what is expected."""
    def compress(self, data: str | Path, **options: Unpack[LanguageCompress]) -> Result:
        """Write a text file in as many bits as `evaluate` says: arithmetic coding."""
    def restore(self, data: str | Path, **options: Unpack[LanguageRestore]) -> Result:
        """The text that was compressed with the same run, to the byte."""
    def export(self, **options: Unpack[LanguageExport]) -> Result:
        """Write n-grams as an ARPA file, or a transformer as the folder of a GPT-2."""

class ClassifySettings(Settings, total=False):
    calibrate: bool
    """find on validation data how sure it may be (a temperature)"""
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    distinct: bool
    """of equal sequences keep the first only"""
    label: Words
    """which field holds the labels (default: label) or values (value)"""
    time: Words
    """series: the column of moments; default: found by name or content"""
    series: Words
    """which series a row of a long table belongs to; each is a sequence"""
    channels: Words
    """series: the columns to be read, with commas between; default: all"""
    fill: Literal['refuse', 'previous', 'linear', 'mean', 'keep']
    """series: what becomes of gaps"""
    sample_rate: int
    """wav: samples a second, by averaging; 0: as the file has them"""
    frame: int
    """wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples"""
    unit: Literal['character', 'byte', 'word', 'token', 'subword']
    """what counts as one symbol; character where texts have no blanks"""
    vocabulary: int | None
    """keep at most this many symbols (subword: how many to learn, default 1000)"""
    minimum_count: int
    """a symbol seen less often than this in training is unknown"""
    lower: bool
    """lower-case the text first"""
    method: Literal['byte-pair', 'unigram']
    """how subwords are learned"""
    tokenizer: Words
    """a tokenizer made elsewhere: a file tokenizer.json or a sentencepiece .model; the unit is then subword"""
    phrases: int
    """word: join pairs of words that stand together more often than chance, in so many rounds: 1 gives pairs, 2 up to four words"""
    phrase_score: float
    """phrases: how much more often; higher joins fewer"""
    add: float
    """pseudo-count added to every symbol"""
    ngram: int
    """also runs of up to this many symbols"""
    presence: bool
    """a symbol counts once in a sequence, however often it stands there"""
    prior: Literal['counts', 'uniform']
    """probability of the labels beforehand"""
    counts: Literal['unigram', 'markov', 'kneser-ney', 'witten-bell', 'absolute', 'good-turing']
    """which model is counted for each label"""
    order: int
    """as of that model: markov looks at so many symbols, the others count n-grams of that length"""
    first: Literal['start', 'unigram']
    """markov: what the first symbols follow: the start, or nothing, so that the first is as likely as anywhere (unigram)"""
    ends: bool
    """unigram and markov: the end of a sequence counts like a symbol; false: not at all"""
    closed: bool
    """unigram and markov: the vocabulary is what was seen under any label; what is unknown adds nothing"""
    weighting: Literal['counts', 'tf-idf', 'bayes']
    """what an n-gram weighs: its count, tf-idf, or presence times the log-ratio of naive Bayes (NBSVM)"""
    strength: float
    """how far weights may grow: the inverse of the penalty on their squares; 0: found"""
    spelling: Literal['found', 'yes', 'no']
    """also runs of three to five letters inside words"""
    least: int
    """n-grams seen in fewer training sequences are left out"""
    pretrained: Words
    """local folder of a pretrained encoder, in Hugging Face's layout; nothing is downloaded"""
    mixer: Literal['none', 'rnn', 'gru', 'gru-before', 'additive-recurrent', 'lstm', 'coupled', 'no-output-gate', 'additive', 'convolution', 'attention', 'tree']
    """how a position sees the others"""
    layers: int
    """number of blocks"""
    residual: bool
    """add each part's input to its output, with a norm before or after"""
    norm: Literal['layer', 'rms']
    """with residual: LayerNorm or RMSNorm"""
    norm_place: Literal['before', 'after']
    """with residual: before each part, or after it as in the first Transformer"""
    feed_forward: float
    """width of the feed-forward part, in multiples of the width; 0 leaves it out"""
    feed_forward_activation: Literal['relu', 'gelu', 'gelu-tanh', 'gated']
    """activation of the feed-forward part"""
    dropout: float
    """share of activations dropped in training"""
    weight_dropout: float
    """recurrence: share of recurrent weights dropped in training"""
    tied: bool
    """the output layer shares the embedding's weights"""
    output_bias: bool
    """the output layer has a bias; without one a transformer can be written as a GPT-2"""
    activation: Literal['tanh', 'sigmoid', 'relu', 'gelu']
    """rnn, plain convolution and hidden layers: the nonlinearity"""
    initial: Literal['orthogonal', 'uniform']
    """recurrence: how the recurrent weights begin"""
    cell_output: Literal['tanh', 'linear']
    """lstm, coupled, no-output-gate: h is made of tanh(c), or of c itself"""
    norm_inside: bool
    """recurrence: LayerNorm of W x and of U h within each step (Ba et al. 2016)"""
    radius: float
    """recurrence: scale the recurrent matrices to this spectral radius at the start; 0 leaves them as --initial makes them"""
    heads: int
    """attention: number of heads"""
    context: int
    """attention: how many positions back, itself included"""
    score: Literal['dot', 'scaled', 'bilinear', 'mlp', 'uniform']
    """attention: how well a query fits a key"""
    head_width: int
    """attention: numbers of each head's queries, keys and values; 0: width / heads"""
    maps: bool
    """attention: queries, keys and values are learned maps of the vectors, not the vectors themselves"""
    positions: Literal['rotary', 'sinusoidal', 'learned', 'concatenated', 'none']
    """attention: how it knows where things stand"""
    kernel: int
    """convolution: width of the kernel, in positions"""
    dilation: int
    """convolution: a position hears every so many-th before it; 1: plain, 0: doubling with each layer"""
    gated: bool
    """convolution: each value is let through by a gate; otherwise plain, with an activation"""
    word_vectors: Words
    """begin with these word vectors: a file of word2vec, GloVe or fastText, or a run of `fit words`; --width must be theirs, but for labels, whose --embedding becomes theirs"""
    frozen: bool
    """the embedding stays as it begins"""
    bidirectional: bool
    """each position sees what comes after it, too"""
    embedding: int
    """size of the word vectors; 0: as --width"""
    word_dropout: float
    """share of words that are unknown in training, so that unknown ones are known"""
    letters: Literal['no', 'convolution', 'lstm', 'affixes']
    """words are also read letter by letter"""
    letter_width: int
    """letters: size of what they say about the word"""
    also: Words
    """further fields that are read beside the words, element by element, with commas between: upos,lemma"""
    also_width: int
    """also: size of the vectors of further symbols"""
    encoder: Words
    """a run of `fit language` that reads first: its vectors in context stand for the word vectors, its unit and its vocabulary are used; copied into the run"""
    encoder_frozen: bool
    """encoder: it stays as it is; false: it learns on"""
    pool: Literal['last', 'mean', 'max', 'attention', 'unit']
    """how the vectors of all positions become one: the last, their mean or largest values, a mean weighed by attention, or the vector of an extra position (unit)"""
    hidden: int
    """hidden layers between that one vector and the answer"""
    beside: Literal['found', 'linear', 'no']
    """what counts beside the network and is added to what it says: the rung `linear`, or nothing; found: linear, of numbers nothing"""

class ClassifyFit(ClassifySettings, total=False):
    resume: bool
    """go on with a fit that was killed"""
    overwrite: bool
    """replace the run that is there"""
    report: Words
    """page to write about the fit: .html"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""

class ClassifyCompare(ClassifySettings, total=False):
    folds: int | None
    """every so many-th part of the data is the test in turn"""
    seeds: int
    """fits of each network from so many seeds: intervals then cover seeds, too"""
    margin: float
    """share of the best figure below which a difference does not matter"""
    units: Words
    """units with commas between: one table of all, on the same raw text (language)"""
    curve: bool
    """fit six sizes of the data, too: what more of it would give, and where models cross"""
    max_size: int | None
    """bytes of a model to be recommended, at most"""
    min_speed: float | None
    """symbols per second of a model to be recommended, at least"""
    resume: bool
    """go on with a comparison that was killed: rows it has are kept"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""
    repeat: Words
    """folder or table.json of a comparison to do again: same data, models, settings, seeds"""
    valid: Source
    """a file of its own"""
    test: Source
    """a file of its own"""

class ClassifyEvaluate(TypedDict, total=False):
    against: Predictor | None
    """another run: is this one better? by the test of the task's figure"""
    positive: Words
    """choose a threshold for this label"""
    threshold: float | None
    """positive: measure at this probability, chosen elsewhere"""
    most_false: float
    """such that at most this share of the others is taken for it"""

class ClassifyPredict(TypedDict, total=False):
    top: int
    """how many of the likeliest are shown"""
    probabilities: bool
    """the probabilities of all labels, whatever --top is"""
    positive: Words
    """this label is found from the probability --threshold on"""
    threshold: float | None
    """positive: the probability (0.5)"""

class ClassifyExplain(TypedDict, total=False):
    label: Words
    """the label that is explained (default: the one that is found)"""
    method: Literal['', 'exact', 'occlusion', 'gradient']
    """by which method (default: the best this model has)"""

class ClassifyEmbed(TypedDict, total=False):
    layer: int
    """of this layer, counted from 1; 0: behind the last"""
    each: Literal['position', 'sequence']
    """a vector for each position, or for each sequence their mean"""

class ClassifyAttention(TypedDict, total=False):
    layer: int
    """only the heads of this layer, counted from 1; 0: of all"""
    head: int
    """only this head of each layer, counted from 1; 0: all"""

class ClassifyUnits(TypedDict, total=False):
    layer: int
    """only units of this layer, counted from 1; 0: of all"""
    unit: int
    """only this unit of each layer, counted from 1; 0: of all"""
    count: int
    """how many units, those first that are worth most"""
    marker: Literal['', 'quote', 'bracket', 'line', 'word', 'capital', 'digit']
    """the units that follow this best, as it stands in the text (default: those that change most)"""

class FittedClassify(Classifier):
    def evaluate(self, data: Source, **options: Unpack[ClassifyEvaluate]) -> Result:
        """How well it labels other data: accuracy, by label, with interval and calibration."""
    def predict(self, data: Source, **options: Unpack[ClassifyPredict]) -> Result:
        """A label for each sequence, with the likeliest labels and their probabilities."""
    def explain(self, text: str, **options: Unpack[ClassifyExplain]) -> Result:
        """Why this label? What each symbol of a text contributed."""
    def graph(self, data: Source) -> Result:
        """How the loss of one example is computed, with all values and gradients: a small network's."""
    def embed(self, data: Source, **options: Unpack[ClassifyEmbed]) -> Result:
        """A vector for each position in its context, or for each sequence their mean."""
    def attention(self, data: Source, **options: Unpack[ClassifyAttention]) -> Result:
        """Who attends to whom: a map for each head."""
    def units(self, text: str, **options: Unpack[ClassifyUnits]) -> Result:
        """What hidden units say along a text, and which follow its quotes, brackets, lines or words."""

class RegressSettings(Settings, total=False):
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    distinct: bool
    """of equal sequences keep the first only"""
    label: Words
    """which field holds the labels (default: label) or values (value)"""
    time: Words
    """series: the column of moments; default: found by name or content"""
    series: Words
    """which series a row of a long table belongs to; each is a sequence"""
    channels: Words
    """series: the columns to be read, with commas between; default: all"""
    fill: Literal['refuse', 'previous', 'linear', 'mean', 'keep']
    """series: what becomes of gaps"""
    sample_rate: int
    """wav: samples a second, by averaging; 0: as the file has them"""
    frame: int
    """wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples"""
    unit: Literal['character', 'byte', 'word', 'token', 'subword']
    """what counts as one symbol; character where texts have no blanks"""
    vocabulary: int | None
    """keep at most this many symbols (subword: how many to learn, default 1000)"""
    minimum_count: int
    """a symbol seen less often than this in training is unknown"""
    lower: bool
    """lower-case the text first"""
    method: Literal['byte-pair', 'unigram']
    """how subwords are learned"""
    tokenizer: Words
    """a tokenizer made elsewhere: a file tokenizer.json or a sentencepiece .model; the unit is then subword"""
    phrases: int
    """word: join pairs of words that stand together more often than chance, in so many rounds: 1 gives pairs, 2 up to four words"""
    phrase_score: float
    """phrases: how much more often; higher joins fewer"""
    ngram: int
    """runs of up to this many symbols"""
    weighting: Literal['counts', 'tf-idf']
    """what an n-gram weighs: its count, or tf-idf"""
    strength: float
    """how far weights may grow: the inverse of the penalty on their squares; 0: found on the training data"""
    least: int
    """n-grams seen in fewer training sequences are left out"""
    pretrained: Words
    """local folder of a pretrained encoder, in Hugging Face's layout; nothing is downloaded"""
    mixer: Literal['none', 'rnn', 'gru', 'gru-before', 'additive-recurrent', 'lstm', 'coupled', 'no-output-gate', 'additive', 'convolution', 'attention', 'tree']
    """how a position sees the others"""
    layers: int
    """number of blocks"""
    residual: bool
    """add each part's input to its output, with a norm before or after"""
    norm: Literal['layer', 'rms']
    """with residual: LayerNorm or RMSNorm"""
    norm_place: Literal['before', 'after']
    """with residual: before each part, or after it as in the first Transformer"""
    feed_forward: float
    """width of the feed-forward part, in multiples of the width; 0 leaves it out"""
    feed_forward_activation: Literal['relu', 'gelu', 'gelu-tanh', 'gated']
    """activation of the feed-forward part"""
    dropout: float
    """share of activations dropped in training"""
    weight_dropout: float
    """recurrence: share of recurrent weights dropped in training"""
    tied: bool
    """the output layer shares the embedding's weights"""
    output_bias: bool
    """the output layer has a bias; without one a transformer can be written as a GPT-2"""
    activation: Literal['tanh', 'sigmoid', 'relu', 'gelu']
    """rnn, plain convolution and hidden layers: the nonlinearity"""
    initial: Literal['orthogonal', 'uniform']
    """recurrence: how the recurrent weights begin"""
    cell_output: Literal['tanh', 'linear']
    """lstm, coupled, no-output-gate: h is made of tanh(c), or of c itself"""
    norm_inside: bool
    """recurrence: LayerNorm of W x and of U h within each step (Ba et al. 2016)"""
    radius: float
    """recurrence: scale the recurrent matrices to this spectral radius at the start; 0 leaves them as --initial makes them"""
    heads: int
    """attention: number of heads"""
    context: int
    """attention: how many positions back, itself included"""
    score: Literal['dot', 'scaled', 'bilinear', 'mlp', 'uniform']
    """attention: how well a query fits a key"""
    head_width: int
    """attention: numbers of each head's queries, keys and values; 0: width / heads"""
    maps: bool
    """attention: queries, keys and values are learned maps of the vectors, not the vectors themselves"""
    positions: Literal['rotary', 'sinusoidal', 'learned', 'concatenated', 'none']
    """attention: how it knows where things stand"""
    kernel: int
    """convolution: width of the kernel, in positions"""
    dilation: int
    """convolution: a position hears every so many-th before it; 1: plain, 0: doubling with each layer"""
    gated: bool
    """convolution: each value is let through by a gate; otherwise plain, with an activation"""
    word_vectors: Words
    """begin with these word vectors: a file of word2vec, GloVe or fastText, or a run of `fit words`; --width must be theirs, but for labels, whose --embedding becomes theirs"""
    frozen: bool
    """the embedding stays as it begins"""
    bidirectional: bool
    """each position sees what comes after it, too"""
    embedding: int
    """size of the word vectors; 0: as --width"""
    word_dropout: float
    """share of words that are unknown in training, so that unknown ones are known"""
    letters: Literal['no', 'convolution', 'lstm', 'affixes']
    """words are also read letter by letter"""
    letter_width: int
    """letters: size of what they say about the word"""
    also: Words
    """further fields that are read beside the words, element by element, with commas between: upos,lemma"""
    also_width: int
    """also: size of the vectors of further symbols"""
    encoder: Words
    """a run of `fit language` that reads first: its vectors in context stand for the word vectors, its unit and its vocabulary are used; copied into the run"""
    encoder_frozen: bool
    """encoder: it stays as it is; false: it learns on"""
    pool: Literal['last', 'mean', 'max', 'attention', 'unit']
    """how the vectors of all positions become one: the last, their mean or largest values, a mean weighed by attention, or the vector of an extra position (unit)"""
    hidden: int
    """hidden layers between that one vector and the answer"""

class RegressFit(RegressSettings, total=False):
    resume: bool
    """go on with a fit that was killed"""
    overwrite: bool
    """replace the run that is there"""
    report: Words
    """page to write about the fit: .html"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""

class RegressCompare(RegressSettings, total=False):
    folds: int | None
    """every so many-th part of the data is the test in turn"""
    seeds: int
    """fits of each network from so many seeds: intervals then cover seeds, too"""
    margin: float
    """share of the best figure below which a difference does not matter"""
    units: Words
    """units with commas between: one table of all, on the same raw text (language)"""
    curve: bool
    """fit six sizes of the data, too: what more of it would give, and where models cross"""
    max_size: int | None
    """bytes of a model to be recommended, at most"""
    min_speed: float | None
    """symbols per second of a model to be recommended, at least"""
    resume: bool
    """go on with a comparison that was killed: rows it has are kept"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""
    repeat: Words
    """folder or table.json of a comparison to do again: same data, models, settings, seeds"""
    valid: Source
    """a file of its own"""
    test: Source
    """a file of its own"""

class RegressEvaluate(TypedDict, total=False):
    against: Predictor | None
    """another run: is this one better? by the test of the task's figure"""

class RegressAttention(TypedDict, total=False):
    layer: int
    """only the heads of this layer, counted from 1; 0: of all"""
    head: int
    """only this head of each layer, counted from 1; 0: all"""

class RegressUnits(TypedDict, total=False):
    layer: int
    """only units of this layer, counted from 1; 0: of all"""
    unit: int
    """only this unit of each layer, counted from 1; 0: of all"""
    count: int
    """how many units, those first that are worth most"""
    marker: Literal['', 'quote', 'bracket', 'line', 'word', 'capital', 'digit']
    """the units that follow this best, as it stands in the text (default: those that change most)"""

class FittedRegress(Regressor):
    def evaluate(self, data: Source, **options: Unpack[RegressEvaluate]) -> Result:
        """How well it estimates the values of other data: errors, skill, coverage."""
    def predict(self, data: Source) -> Result:
        """The value of each sequence, or its values, with deviation and interval of 80 %."""
    def graph(self, data: Source) -> Result:
        """How the loss of one example is computed, with all values and gradients: a small network's."""
    def attention(self, data: Source, **options: Unpack[RegressAttention]) -> Result:
        """Who attends to whom: a map for each head."""
    def units(self, text: str, **options: Unpack[RegressUnits]) -> Result:
        """What hidden units say along a text, and which follow its quotes, brackets, lines or words."""

class TagSettings(Settings, total=False):
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    distinct: bool
    """of equal sequences keep the first only"""
    label: Words
    """which field holds the labels (default: label) or values (value)"""
    time: Words
    """series: the column of moments; default: found by name or content"""
    series: Words
    """which series a row of a long table belongs to; each is a sequence"""
    channels: Words
    """series: the columns to be read, with commas between; default: all"""
    fill: Literal['refuse', 'previous', 'linear', 'mean', 'keep']
    """series: what becomes of gaps"""
    unit: Literal['character', 'byte', 'word', 'token', 'subword']
    """what counts as one symbol"""
    vocabulary: int | None
    """keep at most this many symbols (subword: how many to learn, default 1000)"""
    minimum_count: int
    """a symbol seen less often than this in training is unknown"""
    lower: bool
    """lower-case the text first"""
    method: Literal['byte-pair', 'unigram']
    """how subwords are learned"""
    tokenizer: Words
    """a tokenizer made elsewhere: a file tokenizer.json or a sentencepiece .model; the unit is then subword"""
    phrases: int
    """word: join pairs of words that stand together more often than chance, in so many rounds: 1 gives pairs, 2 up to four words"""
    phrase_score: float
    """phrases: how much more often; higher joins fewer"""
    suffix: int
    """words are also judged by their last letters, up to this many"""
    rare: int
    """endings are learned from words seen at most this often"""
    ending_trust: float
    """weight of a shorter ending, in words seen"""
    word_trust: float
    """weight of what its ending says about a known word, in times seen"""
    order: Literal[1, 2]
    """how many tags back a tag depends on; 2 is a little better and ten times slower"""
    tag_trust: float
    """weight of a shorter context, in tags seen"""
    mixer: Literal['none', 'rnn', 'gru', 'gru-before', 'additive-recurrent', 'lstm', 'coupled', 'no-output-gate', 'additive', 'convolution', 'attention', 'tree']
    """how a position sees the others"""
    layers: int
    """number of blocks"""
    residual: bool
    """add each part's input to its output, with a norm before or after"""
    norm: Literal['layer', 'rms']
    """with residual: LayerNorm or RMSNorm"""
    norm_place: Literal['before', 'after']
    """with residual: before each part, or after it as in the first Transformer"""
    feed_forward: float
    """width of the feed-forward part, in multiples of the width; 0 leaves it out"""
    feed_forward_activation: Literal['relu', 'gelu', 'gelu-tanh', 'gated']
    """activation of the feed-forward part"""
    dropout: float
    """share of activations dropped in training"""
    weight_dropout: float
    """recurrence: share of recurrent weights dropped in training"""
    tied: bool
    """the output layer shares the embedding's weights"""
    output_bias: bool
    """the output layer has a bias; without one a transformer can be written as a GPT-2"""
    activation: Literal['tanh', 'sigmoid', 'relu']
    """rnn and plain convolution: the nonlinearity"""
    initial: Literal['orthogonal', 'uniform']
    """recurrence: how the recurrent weights begin"""
    cell_output: Literal['tanh', 'linear']
    """lstm, coupled, no-output-gate: h is made of tanh(c), or of c itself"""
    norm_inside: bool
    """recurrence: LayerNorm of W x and of U h within each step (Ba et al. 2016)"""
    radius: float
    """recurrence: scale the recurrent matrices to this spectral radius at the start; 0 leaves them as --initial makes them"""
    heads: int
    """attention: number of heads"""
    context: int
    """attention: how many positions back, itself included"""
    score: Literal['dot', 'scaled', 'bilinear', 'mlp', 'uniform']
    """attention: how well a query fits a key"""
    head_width: int
    """attention: numbers of each head's queries, keys and values; 0: width / heads"""
    maps: bool
    """attention: queries, keys and values are learned maps of the vectors, not the vectors themselves"""
    positions: Literal['rotary', 'sinusoidal', 'learned', 'concatenated', 'none']
    """attention: how it knows where things stand"""
    kernel: int
    """convolution: width of the kernel, in positions"""
    dilation: int
    """convolution: a position hears every so many-th before it; 1: plain, 0: doubling with each layer"""
    gated: bool
    """convolution: each value is let through by a gate; otherwise plain, with an activation"""
    word_vectors: Words
    """begin with these word vectors: a file of word2vec, GloVe or fastText, or a run of `fit words`; --width must be theirs, but for labels, whose --embedding becomes theirs"""
    frozen: bool
    """the embedding stays as it begins"""
    bidirectional: bool
    """each position sees what comes after it, too"""
    embedding: int
    """size of the word vectors; 0: as --width"""
    word_dropout: float
    """share of words that are unknown in training, so that unknown ones are known"""
    letters: Literal['no', 'convolution', 'lstm', 'affixes']
    """words are also read letter by letter"""
    letter_width: int
    """letters: size of what they say about the word"""
    also: Words
    """further fields that are read beside the words, element by element, with commas between: upos,lemma"""
    also_width: int
    """also: size of the vectors of further symbols"""
    encoder: Words
    """a run of `fit language` that reads first: its vectors in context stand for the word vectors, its unit and its vocabulary are used; copied into the run"""
    encoder_frozen: bool
    """encoder: it stays as it is; false: it learns on"""
    chain: bool
    """tags are judged together, by how they follow each other (CRF)"""
    constrained: bool
    """chain: of B-I-O tags only sequences that make sense"""
    beside: Literal['found', 'most-frequent', 'hmm', 'no']
    """what counts beside the network and is added to what it says; found: of the rungs `most-frequent` and `hmm` the one that tells held-out tags better"""

class TagFit(TagSettings, total=False):
    resume: bool
    """go on with a fit that was killed"""
    overwrite: bool
    """replace the run that is there"""
    report: Words
    """page to write about the fit: .html"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""

class TagCompare(TagSettings, total=False):
    folds: int | None
    """every so many-th part of the data is the test in turn"""
    seeds: int
    """fits of each network from so many seeds: intervals then cover seeds, too"""
    margin: float
    """share of the best figure below which a difference does not matter"""
    units: Words
    """units with commas between: one table of all, on the same raw text (language)"""
    curve: bool
    """fit six sizes of the data, too: what more of it would give, and where models cross"""
    pretrained: Words
    """local folder of a pretrained model, in Hugging Face's layout: one more row, marked; nothing is downloaded"""
    max_size: int | None
    """bytes of a model to be recommended, at most"""
    min_speed: float | None
    """symbols per second of a model to be recommended, at least"""
    resume: bool
    """go on with a comparison that was killed: rows it has are kept"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""
    repeat: Words
    """folder or table.json of a comparison to do again: same data, models, settings, seeds"""
    valid: Source
    """a file of its own"""
    test: Source
    """a file of its own"""

class TagEvaluate(TypedDict, total=False):
    against: Predictor | None
    """another run: is this one better? by the test of the task's figure"""

class TagBest(TypedDict, total=False):
    count: int
    """how many rows of tags, of models that judge them together"""

class TagAnnotate(TypedDict, total=False):
    out: Words
    """the file to write"""
    input_format: Words
    """conllu or columns, if the ending does not tell"""

class TagEmbed(TypedDict, total=False):
    layer: int
    """of this layer, counted from 1; 0: behind the last"""
    each: Literal['position', 'sequence']
    """a vector for each position, or for each sequence their mean"""

class TagAttention(TypedDict, total=False):
    layer: int
    """only the heads of this layer, counted from 1; 0: of all"""
    head: int
    """only this head of each layer, counted from 1; 0: all"""

class TagUnits(TypedDict, total=False):
    layer: int
    """only units of this layer, counted from 1; 0: of all"""
    unit: int
    """only this unit of each layer, counted from 1; 0: of all"""
    count: int
    """how many units, those first that are worth most"""
    marker: Literal['', 'quote', 'bracket', 'line', 'word', 'capital', 'digit']
    """the units that follow this best, as it stands in the text (default: those that change most)"""

class FittedTag(Tagger):
    def evaluate(self, data: Source, **options: Unpack[TagEvaluate]) -> Result:
        """How well it tags other data: accuracy, by tag, known and unknown words, spans."""
    def predict(self, data: Source) -> Result:
        """A tag for each element of each sequence."""
    def best(self, data: Source, **options: Unpack[TagBest]) -> Result:
        """The most probable rows of tags, of models that judge them together."""
    def annotate(self, file: str | Path, **options: Unpack[TagAnnotate]) -> Result:
        """A file of sentences written again with the tags that are found, all else as it is."""
    def embed(self, data: Source, **options: Unpack[TagEmbed]) -> Result:
        """A vector for each position in its context, or for each sequence their mean."""
    def attention(self, data: Source, **options: Unpack[TagAttention]) -> Result:
        """Who attends to whom: a map for each head."""
    def units(self, text: str, **options: Unpack[TagUnits]) -> Result:
        """What hidden units say along a text, and which follow its quotes, brackets, lines or words."""

class SetsSettings(Settings, total=False):
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    distinct: bool
    """of equal sequences keep the first only"""
    grid: int
    """midi: steps in a whole note; 0: 16"""
    struck: bool
    """midi: the notes that are struck in each step, not all that sound"""
    unit: Literal['character', 'byte', 'word', 'token', 'subword']
    """what counts as one symbol"""
    vocabulary: int | None
    """keep at most this many symbols (subword: how many to learn, default 1000)"""
    minimum_count: int
    """a symbol seen less often than this in training is unknown"""
    lower: bool
    """lower-case the text first"""
    method: Literal['byte-pair', 'unigram']
    """how subwords are learned"""
    tokenizer: Words
    """a tokenizer made elsewhere: a file tokenizer.json or a sentencepiece .model; the unit is then subword"""
    phrases: int
    """word: join pairs of words that stand together more often than chance, in so many rounds: 1 gives pairs, 2 up to four words"""
    phrase_score: float
    """phrases: how much more often; higher joins fewer"""
    add: float
    """pseudo-count added to both, being in a set and not being in it"""
    mixer: Literal['none', 'rnn', 'gru', 'gru-before', 'additive-recurrent', 'lstm', 'coupled', 'no-output-gate', 'additive', 'convolution', 'attention']
    """how a position sees the ones before it"""
    layers: int
    """number of blocks"""
    residual: bool
    """add each part's input to its output, with a norm before or after"""
    norm: Literal['layer', 'rms']
    """with residual: LayerNorm or RMSNorm"""
    norm_place: Literal['before', 'after']
    """with residual: before each part, or after it as in the first Transformer"""
    feed_forward: float
    """width of the feed-forward part, in multiples of the width; 0 leaves it out"""
    feed_forward_activation: Literal['relu', 'gelu', 'gelu-tanh', 'gated']
    """activation of the feed-forward part"""
    dropout: float
    """share of activations dropped in training"""
    weight_dropout: float
    """recurrence: share of recurrent weights dropped in training"""
    tied: bool
    """the output layer shares the embedding's weights"""
    output_bias: bool
    """the output layer has a bias; without one a transformer can be written as a GPT-2"""
    activation: Literal['tanh', 'sigmoid', 'relu']
    """rnn and plain convolution: the nonlinearity"""
    initial: Literal['orthogonal', 'uniform']
    """recurrence: how the recurrent weights begin"""
    cell_output: Literal['tanh', 'linear']
    """lstm, coupled, no-output-gate: h is made of tanh(c), or of c itself"""
    norm_inside: bool
    """recurrence: LayerNorm of W x and of U h within each step (Ba et al. 2016)"""
    radius: float
    """recurrence: scale the recurrent matrices to this spectral radius at the start; 0 leaves them as --initial makes them"""
    heads: int
    """attention: number of heads"""
    context: int
    """attention: how many positions back, itself included"""
    score: Literal['dot', 'scaled', 'bilinear', 'mlp', 'uniform']
    """attention: how well a query fits a key"""
    head_width: int
    """attention: numbers of each head's queries, keys and values; 0: width / heads"""
    maps: bool
    """attention: queries, keys and values are learned maps of the vectors, not the vectors themselves"""
    positions: Literal['rotary', 'sinusoidal', 'learned', 'concatenated', 'none']
    """attention: how it knows where things stand"""
    kernel: int
    """convolution: width of the kernel, in positions"""
    dilation: int
    """convolution: a position hears every so many-th before it; 1: plain, 0: doubling with each layer"""
    gated: bool
    """convolution: each value is let through by a gate; otherwise plain, with an activation"""
    word_vectors: Words
    """begin with these word vectors: a file of word2vec, GloVe or fastText, or a run of `fit words`; --width must be theirs, but for labels, whose --embedding becomes theirs"""
    frozen: bool
    """the embedding stays as it begins"""

class SetsFit(SetsSettings, total=False):
    resume: bool
    """go on with a fit that was killed"""
    overwrite: bool
    """replace the run that is there"""
    report: Words
    """page to write about the fit: .html"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""

class SetsCompare(SetsSettings, total=False):
    folds: int | None
    """every so many-th part of the data is the test in turn"""
    seeds: int
    """fits of each network from so many seeds: intervals then cover seeds, too"""
    margin: float
    """share of the best figure below which a difference does not matter"""
    units: Words
    """units with commas between: one table of all, on the same raw text (language)"""
    curve: bool
    """fit six sizes of the data, too: what more of it would give, and where models cross"""
    pretrained: Words
    """local folder of a pretrained model, in Hugging Face's layout: one more row, marked; nothing is downloaded"""
    max_size: int | None
    """bytes of a model to be recommended, at most"""
    min_speed: float | None
    """symbols per second of a model to be recommended, at least"""
    resume: bool
    """go on with a comparison that was killed: rows it has are kept"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""
    repeat: Words
    """folder or table.json of a comparison to do again: same data, models, settings, seeds"""
    valid: Source
    """a file of its own"""
    test: Source
    """a file of its own"""

class SetsEvaluate(TypedDict, total=False):
    against: Predictor | None
    """another run: is this one better? by the test of the task's figure"""

class SetsPredict(TypedDict, total=False):
    top: int
    """how many of the likeliest are shown"""

class SetsGenerate(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    count: int
    """how many results (with --beam: the n best, at most its width)"""
    seed: int
    """random numbers of the first result; each further one adds 1"""

class SetsComplete(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    count: int
    """how many results (with --beam: the n best, at most its width)"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    number: int
    """which sequence of the data, counted from 1"""
    part: float
    """after this part of it"""

class FittedSets(SetPredictor):
    def evaluate(self, data: Source, **options: Unpack[SetsEvaluate]) -> Result:
        """How well it predicts sets: bits per step, F1 of elements, whole sets."""
    def score(self, data: Source) -> Result:
        """One line a sequence: natural-log probability, number of steps, unknown elements."""
    def predict(self, data: Source, **options: Unpack[SetsPredict]) -> Result:
        """The elements that are likeliest in the set after each sequence."""
    def generate(self, prompt: str = ..., **options: Unpack[SetsGenerate]) -> Result:
        """Let it write sets, after a prompt."""
    def complete(self, data: Source, **options: Unpack[SetsComplete]) -> Result:
        """Go on with the first part of a sequence."""

class MarksSettings(Settings, total=False):
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    distinct: bool
    """of equal sequences keep the first only"""
    label: Words
    """which field holds the labels (default: label) or values (value)"""
    time: Words
    """series: the column of moments; default: found by name or content"""
    series: Words
    """which series a row of a long table belongs to; each is a sequence"""
    channels: Words
    """series: the columns to be read, with commas between; default: all"""
    fill: Literal['refuse', 'previous', 'linear', 'mean', 'keep']
    """series: what becomes of gaps"""
    sample_rate: int
    """wav: samples a second, by averaging; 0: as the file has them"""
    frame: int
    """wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples"""
    unit: Literal['character', 'byte', 'word', 'token', 'subword']
    """what counts as one symbol; character where texts have no blanks"""
    vocabulary: int | None
    """keep at most this many symbols (subword: how many to learn, default 1000)"""
    minimum_count: int
    """a symbol seen less often than this in training is unknown"""
    lower: bool
    """lower-case the text first"""
    method: Literal['byte-pair', 'unigram']
    """how subwords are learned"""
    tokenizer: Words
    """a tokenizer made elsewhere: a file tokenizer.json or a sentencepiece .model; the unit is then subword"""
    phrases: int
    """word: join pairs of words that stand together more often than chance, in so many rounds: 1 gives pairs, 2 up to four words"""
    phrase_score: float
    """phrases: how much more often; higher joins fewer"""
    add: float
    """pseudo-count added to both, being true and not being true"""
    ngram: int
    """runs of up to this many symbols"""
    weighting: Literal['counts', 'tf-idf']
    """what an n-gram weighs: its count, or tf-idf"""
    strength: float
    """how far weights may grow: the inverse of the penalty on their squares; 0: found on the training data"""
    least: int
    """n-grams seen in fewer training sequences are left out"""
    mixer: Literal['none', 'rnn', 'gru', 'gru-before', 'additive-recurrent', 'lstm', 'coupled', 'no-output-gate', 'additive', 'convolution', 'attention', 'tree']
    """how a position sees the others"""
    layers: int
    """number of blocks"""
    residual: bool
    """add each part's input to its output, with a norm before or after"""
    norm: Literal['layer', 'rms']
    """with residual: LayerNorm or RMSNorm"""
    norm_place: Literal['before', 'after']
    """with residual: before each part, or after it as in the first Transformer"""
    feed_forward: float
    """width of the feed-forward part, in multiples of the width; 0 leaves it out"""
    feed_forward_activation: Literal['relu', 'gelu', 'gelu-tanh', 'gated']
    """activation of the feed-forward part"""
    dropout: float
    """share of activations dropped in training"""
    weight_dropout: float
    """recurrence: share of recurrent weights dropped in training"""
    tied: bool
    """the output layer shares the embedding's weights"""
    output_bias: bool
    """the output layer has a bias; without one a transformer can be written as a GPT-2"""
    activation: Literal['tanh', 'sigmoid', 'relu', 'gelu']
    """rnn, plain convolution and hidden layers: the nonlinearity"""
    initial: Literal['orthogonal', 'uniform']
    """recurrence: how the recurrent weights begin"""
    cell_output: Literal['tanh', 'linear']
    """lstm, coupled, no-output-gate: h is made of tanh(c), or of c itself"""
    norm_inside: bool
    """recurrence: LayerNorm of W x and of U h within each step (Ba et al. 2016)"""
    radius: float
    """recurrence: scale the recurrent matrices to this spectral radius at the start; 0 leaves them as --initial makes them"""
    heads: int
    """attention: number of heads"""
    context: int
    """attention: how many positions back, itself included"""
    score: Literal['dot', 'scaled', 'bilinear', 'mlp', 'uniform']
    """attention: how well a query fits a key"""
    head_width: int
    """attention: numbers of each head's queries, keys and values; 0: width / heads"""
    maps: bool
    """attention: queries, keys and values are learned maps of the vectors, not the vectors themselves"""
    positions: Literal['rotary', 'sinusoidal', 'learned', 'concatenated', 'none']
    """attention: how it knows where things stand"""
    kernel: int
    """convolution: width of the kernel, in positions"""
    dilation: int
    """convolution: a position hears every so many-th before it; 1: plain, 0: doubling with each layer"""
    gated: bool
    """convolution: each value is let through by a gate; otherwise plain, with an activation"""
    word_vectors: Words
    """begin with these word vectors: a file of word2vec, GloVe or fastText, or a run of `fit words`; --width must be theirs, but for labels, whose --embedding becomes theirs"""
    frozen: bool
    """the embedding stays as it begins"""
    bidirectional: bool
    """each position sees what comes after it, too"""
    embedding: int
    """size of the word vectors; 0: as --width"""
    word_dropout: float
    """share of words that are unknown in training, so that unknown ones are known"""
    letters: Literal['no', 'convolution', 'lstm', 'affixes']
    """words are also read letter by letter"""
    letter_width: int
    """letters: size of what they say about the word"""
    also: Words
    """further fields that are read beside the words, element by element, with commas between: upos,lemma"""
    also_width: int
    """also: size of the vectors of further symbols"""
    encoder: Words
    """a run of `fit language` that reads first: its vectors in context stand for the word vectors, its unit and its vocabulary are used; copied into the run"""
    encoder_frozen: bool
    """encoder: it stays as it is; false: it learns on"""
    pool: Literal['last', 'mean', 'max', 'attention', 'unit']
    """how the vectors of all positions become one: the last, their mean or largest values, a mean weighed by attention, or the vector of an extra position (unit)"""
    hidden: int
    """hidden layers between that one vector and the answer"""

class MarksFit(MarksSettings, total=False):
    resume: bool
    """go on with a fit that was killed"""
    overwrite: bool
    """replace the run that is there"""
    report: Words
    """page to write about the fit: .html"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""

class MarksCompare(MarksSettings, total=False):
    folds: int | None
    """every so many-th part of the data is the test in turn"""
    seeds: int
    """fits of each network from so many seeds: intervals then cover seeds, too"""
    margin: float
    """share of the best figure below which a difference does not matter"""
    units: Words
    """units with commas between: one table of all, on the same raw text (language)"""
    curve: bool
    """fit six sizes of the data, too: what more of it would give, and where models cross"""
    pretrained: Words
    """local folder of a pretrained model, in Hugging Face's layout: one more row, marked; nothing is downloaded"""
    max_size: int | None
    """bytes of a model to be recommended, at most"""
    min_speed: float | None
    """symbols per second of a model to be recommended, at least"""
    resume: bool
    """go on with a comparison that was killed: rows it has are kept"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""
    repeat: Words
    """folder or table.json of a comparison to do again: same data, models, settings, seeds"""
    valid: Source
    """a file of its own"""
    test: Source
    """a file of its own"""

class MarksEvaluate(TypedDict, total=False):
    against: Predictor | None
    """another run: is this one better? by the test of the task's figure"""

class MarksPredict(TypedDict, total=False):
    top: int
    """how many of the likeliest are shown"""
    threshold: float
    """a label is found from this probability on"""

class FittedMarks(Marker):
    def evaluate(self, data: Source, **options: Unpack[MarksEvaluate]) -> Result:
        """How well it tells what is true of other data: bits per sequence, F1, whole sets."""
    def predict(self, data: Source, **options: Unpack[MarksPredict]) -> Result:
        """The labels of each sequence, and the likeliest with their probabilities."""
    def score(self, data: Source) -> Result:
        """One line a sequence: natural-log probability of its labels, how many there are to choose from, unknown labels."""

class TranslateSettings(Settings, total=False):
    tune_search: bool
    """find the best beam and length penalty on validation data"""
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    distinct: bool
    """of equal sequences keep the first only"""
    also: Words
    """further columns that are read beside the source, with commas between: texts, symbols or numbers, each by an encoder of its own"""
    unit: Literal['character', 'byte', 'word', 'token', 'subword'] | None
    """what counts as one symbol; default: character where targets have no blanks, token where they are made of a few pieces, else subword"""
    vocabulary: int | None
    """keep at most this many symbols (subword: how many to learn, default 1000)"""
    minimum_count: int
    """a symbol seen less often than this in training is unknown"""
    lower: bool
    """lower-case the text first"""
    method: Literal['byte-pair', 'unigram']
    """how subwords are learned"""
    tokenizer: Words
    """a tokenizer made elsewhere: a file tokenizer.json or a sentencepiece .model; the unit is then subword"""
    phrases: int
    """word: join pairs of words that stand together more often than chance, in so many rounds: 1 gives pairs, 2 up to four words"""
    phrase_score: float
    """phrases: how much more often; higher joins fewer"""
    shared: bool
    """translate: one vocabulary for source and target"""
    target_unit: Literal['character', 'byte', 'word', 'token', 'subword'] | None
    """what counts as one symbol of the target; default: as --unit"""
    rounds: int
    """rounds of expectation and maximisation"""
    spread: float
    """how far from the diagonal a symbol looks for its source, as a share of the length"""
    least: float
    """translations less probable than this are forgotten"""
    order: int
    """length of the n-grams of the target"""
    longest: int
    """most symbols that are written for one of the source"""
    rarest: int
    """units that occur less often are not used"""
    best: int
    """how many ways to write a target are kept while a source is read"""
    mixer: Literal['none', 'rnn', 'gru', 'gru-before', 'additive-recurrent', 'lstm', 'coupled', 'no-output-gate', 'additive', 'convolution', 'attention']
    """how a position sees the ones before it"""
    layers: int
    """number of blocks"""
    residual: bool
    """add each part's input to its output, with a norm before or after"""
    norm: Literal['layer', 'rms']
    """with residual: LayerNorm or RMSNorm"""
    norm_place: Literal['before', 'after']
    """with residual: before each part, or after it as in the first Transformer"""
    feed_forward: float
    """width of the feed-forward part, in multiples of the width; 0 leaves it out"""
    feed_forward_activation: Literal['relu', 'gelu', 'gelu-tanh', 'gated']
    """activation of the feed-forward part"""
    dropout: float
    """share of activations dropped in training"""
    weight_dropout: float
    """recurrence: share of recurrent weights dropped in training"""
    tied: bool
    """the output layer shares the embedding's weights"""
    output_bias: bool
    """the output layer has a bias; without one a transformer can be written as a GPT-2"""
    activation: Literal['tanh', 'sigmoid', 'relu']
    """rnn and plain convolution: the nonlinearity"""
    initial: Literal['orthogonal', 'uniform']
    """recurrence: how the recurrent weights begin"""
    cell_output: Literal['tanh', 'linear']
    """lstm, coupled, no-output-gate: h is made of tanh(c), or of c itself"""
    norm_inside: bool
    """recurrence: LayerNorm of W x and of U h within each step (Ba et al. 2016)"""
    radius: float
    """recurrence: scale the recurrent matrices to this spectral radius at the start; 0 leaves them as --initial makes them"""
    heads: int
    """attention: number of heads"""
    context: int
    """attention: how many positions back, itself included"""
    score: Literal['dot', 'scaled', 'bilinear', 'mlp', 'uniform']
    """attention: how well a query fits a key"""
    head_width: int
    """attention: numbers of each head's queries, keys and values; 0: width / heads"""
    maps: bool
    """attention: queries, keys and values are learned maps of the vectors, not the vectors themselves"""
    positions: Literal['rotary', 'sinusoidal', 'learned', 'concatenated', 'none']
    """attention: how it knows where things stand"""
    kernel: int
    """convolution: width of the kernel, in positions"""
    dilation: int
    """convolution: a position hears every so many-th before it; 1: plain, 0: doubling with each layer"""
    gated: bool
    """convolution: each value is let through by a gate; otherwise plain, with an activation"""
    word_vectors: Words
    """begin with these word vectors: a file of word2vec, GloVe or fastText, or a run of `fit words`; --width must be theirs, but for labels, whose --embedding becomes theirs"""
    frozen: bool
    """the embedding stays as it begins"""
    bidirectional: bool
    """each position of the source sees what comes after it, too"""
    encoder_mixer: Literal['', 'none', 'rnn', 'gru', 'gru-before', 'additive-recurrent', 'lstm', 'coupled', 'no-output-gate', 'additive', 'convolution', 'attention', 'tree']
    """how a position of the source sees the others (default: as --mixer); tree: as brackets say"""
    encoder_layers: int
    """number of blocks that read the source; 0: as --layers"""
    attends: Literal['after', 'before', 'no'] | bool
    """the decoder attends to the vectors of all positions of the source, after each step as Luong or before it as Bahdanau; no: it is conditioned on one vector"""
    source_ngrams: int
    """each symbol of the source is also known by frequent n-grams around it, up to this long, such as 6; 0: none"""
    source_ngrams_dropout: float
    """source n-grams: share of them that are dropped in training"""
    cells: int
    """source n-grams: how many of the most frequent have a vector"""
    input_feeding: bool
    """what was attended to at one step is an input of the next (input feeding); recurrent decoders, slower to train"""
    scheduled_sampling: float
    """share of inputs that are the model's own guesses at the end of training, rising from none (scheduled sampling)"""
    judge: Literal['loss', 'bleu', 'chrf', 'exact']
    """what validation looks at: nats per symbol of the references, or what greedy translations are worth"""

class TranslateFit(TranslateSettings, total=False):
    resume: bool
    """go on with a fit that was killed"""
    overwrite: bool
    """replace the run that is there"""
    report: Words
    """page to write about the fit: .html"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""

class TranslateCompare(TranslateSettings, total=False):
    folds: int | None
    """every so many-th part of the data is the test in turn"""
    seeds: int
    """fits of each network from so many seeds: intervals then cover seeds, too"""
    margin: float
    """share of the best figure below which a difference does not matter"""
    units: Words
    """units with commas between: one table of all, on the same raw text (language)"""
    curve: bool
    """fit six sizes of the data, too: what more of it would give, and where models cross"""
    pretrained: Words
    """local folder of a pretrained model, in Hugging Face's layout: one more row, marked; nothing is downloaded"""
    max_size: int | None
    """bytes of a model to be recommended, at most"""
    min_speed: float | None
    """symbols per second of a model to be recommended, at least"""
    resume: bool
    """go on with a comparison that was killed: rows it has are kept"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""
    repeat: Words
    """folder or table.json of a comparison to do again: same data, models, settings, seeds"""
    valid: Source
    """a file of its own"""
    test: Source
    """a file of its own"""

class TranslateEvaluate(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    coverage: float
    """translate, beam: how much it counts that all of the source was attended to (Wu et al. 2016)"""
    prefix: Words
    """what every result begins with"""
    must: Words
    """translate, beam: words or phrases, with commas between, that every result has"""
    never: Words
    """words or phrases, with commas between, that no result has"""
    min_bayes_risk: int
    """translate: of so many samples the one nearest to all others (minimum Bayes risk)"""
    count: int
    """how many results (with --beam: the n best, at most its width)"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    against: Predictor | None
    """another run: is this one better? by the test of the task's figure"""

class TranslatePredict(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    coverage: float
    """translate, beam: how much it counts that all of the source was attended to (Wu et al. 2016)"""
    prefix: Words
    """what every result begins with"""
    must: Words
    """translate, beam: words or phrases, with commas between, that every result has"""
    never: Words
    """words or phrases, with commas between, that no result has"""
    min_bayes_risk: int
    """translate: of so many samples the one nearest to all others (minimum Bayes risk)"""
    count: int
    """how many results (with --beam: the n best, at most its width)"""
    seed: int
    """random numbers of the first result; each further one adds 1"""

class TranslateGenerate(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    coverage: float
    """translate, beam: how much it counts that all of the source was attended to (Wu et al. 2016)"""
    prefix: Words
    """what every result begins with"""
    must: Words
    """translate, beam: words or phrases, with commas between, that every result has"""
    never: Words
    """words or phrases, with commas between, that no result has"""
    min_bayes_risk: int
    """translate: of so many samples the one nearest to all others (minimum Bayes risk)"""
    count: int
    """how many results (with --beam: the n best, at most its width)"""
    seed: int
    """random numbers of the first result; each further one adds 1"""

class TranslateAlignment(TypedDict, total=False):
    target: Words
    """this target instead of the model's own"""

class TranslateTree(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    prefix: Words
    """what every result begins with"""
    must: Words
    """translate, beam: words or phrases, with commas between, that every result has"""
    never: Words
    """words or phrases, with commas between, that no result has"""

class TranslateAttention(TypedDict, total=False):
    layer: int
    """only the heads of this layer, counted from 1; 0: of all"""
    head: int
    """only this head of each layer, counted from 1; 0: all"""

class FittedTranslate(Translator):
    def evaluate(self, data: Source, **options: Unpack[TranslateEvaluate]) -> Result:
        """What its translations are worth: chrF, BLEU, exact ones, error rates."""
    def predict(self, data: Source, **options: Unpack[TranslatePredict]) -> Result:
        """A target for each source."""
    def score(self, data: Source) -> Result:
        """The log-probability of the target of each pair."""
    def generate(self, prompt: str, **options: Unpack[TranslateGenerate]) -> Result:
        """The target of one source, as it is written."""
    def alignment(self, text: str, **options: Unpack[TranslateAlignment]) -> Result:
        """What of the source each symbol of the target attends to."""
    def tree(self, text: str, **options: Unpack[TranslateTree]) -> Result:
        """Every candidate of a beam search, kept, pruned or ended."""
    def attention(self, text: str, **options: Unpack[TranslateAttention]) -> Result:
        """Who attends to whom: a map for each head."""

class ForecastSettings(Settings, total=False):
    calibrate: bool
    """intervals that hold, from errors on validation data"""
    sample_rate: int
    """wav: samples a second, by averaging; 0: as the file has them"""
    frame: int
    """wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples"""
    time: Words
    """the column of moments; default: found by name or content"""
    series: Words
    """which series a row of a long table belongs to"""
    channels: Words
    """the columns to be forecast, with commas between; default: all"""
    known: Words
    """columns that are known in advance, with commas between"""
    fill: Literal['refuse', 'previous', 'linear', 'mean', 'keep']
    """what becomes of gaps"""
    scale: Literal['standard', 'none']
    """numbers: mean 0 and variance 1 by the training data, or as they are"""
    each: bool
    """numbers: several series are scaled each by itself, in units of its own naive error; false: all alike"""
    season: int
    """numbers: steps of a season; 0: what the calendar suggests (24 hours, 12 months)"""
    log: bool
    """numbers: their logarithms; all must be positive"""
    difference: int
    """numbers: differences to the value so many steps before; 0: the values themselves"""
    calendar: bool
    """numbers: hour, day and month of each moment are inputs, too"""
    horizon: int
    """how many steps ahead"""
    context: int
    """how many steps back are looked at"""
    gap: int
    """steps between what is known and the first one that is forecast"""
    trend: bool
    """there is a trend, which fades"""
    seasonal: bool
    """there is a season, where the context holds two of them"""
    order: int
    """of how many"""
    cross: bool
    """channels hear each other"""
    windows: int | str | Sequence[int]
    """also mean, deviation, least and largest of the last so many values, such as 7,28"""
    own: bool
    """a regression for each channel, otherwise one for all"""
    strength: float
    """ridge: penalty on squares; 0: what does best on the end of the training data, where calm windows may weigh more"""
    trees: int
    """boosting: number of trees"""
    mixer: Literal['none', 'rnn', 'gru', 'gru-before', 'additive-recurrent', 'lstm', 'coupled', 'no-output-gate', 'additive', 'convolution', 'attention']
    """how a position sees the ones before it"""
    layers: int
    """number of blocks"""
    residual: bool
    """add each part's input to its output, with a norm before or after"""
    norm: Literal['layer', 'rms']
    """with residual: LayerNorm or RMSNorm"""
    norm_place: Literal['before', 'after']
    """with residual: before each part, or after it as in the first Transformer"""
    feed_forward: float
    """width of the feed-forward part, in multiples of the width; 0 leaves it out"""
    feed_forward_activation: Literal['relu', 'gelu', 'gelu-tanh', 'gated']
    """activation of the feed-forward part"""
    dropout: float
    """share of activations dropped in training"""
    weight_dropout: float
    """recurrence: share of recurrent weights dropped in training"""
    tied: bool
    """the output layer shares the embedding's weights"""
    output_bias: bool
    """the output layer has a bias; without one a transformer can be written as a GPT-2"""
    activation: Literal['tanh', 'sigmoid', 'relu']
    """rnn and plain convolution: the nonlinearity"""
    initial: Literal['orthogonal', 'uniform']
    """recurrence: how the recurrent weights begin"""
    cell_output: Literal['tanh', 'linear']
    """lstm, coupled, no-output-gate: h is made of tanh(c), or of c itself"""
    norm_inside: bool
    """recurrence: LayerNorm of W x and of U h within each step (Ba et al. 2016)"""
    radius: float
    """recurrence: scale the recurrent matrices to this spectral radius at the start; 0 leaves them as --initial makes them"""
    heads: int
    """attention: number of heads"""
    score: Literal['dot', 'scaled', 'bilinear', 'mlp', 'uniform']
    """attention: how well a query fits a key"""
    head_width: int
    """attention: numbers of each head's queries, keys and values; 0: width / heads"""
    maps: bool
    """attention: queries, keys and values are learned maps of the vectors, not the vectors themselves"""
    positions: Literal['rotary', 'sinusoidal', 'learned', 'concatenated', 'none']
    """attention: how it knows where things stand"""
    kernel: int
    """convolution: width of the kernel, in positions"""
    dilation: int
    """convolution: a position hears every so many-th before it; 1: plain, 0: doubling with each layer"""
    gated: bool
    """convolution: each value is let through by a gate; otherwise plain, with an activation"""
    word_vectors: Words
    """begin with these word vectors: a file of word2vec, GloVe or fastText, or a run of `fit words`; --width must be theirs, but for labels, whose --embedding becomes theirs"""
    frozen: bool
    """the embedding stays as it begins"""
    strategy: Literal['direct', 'recursive']
    """the whole horizon at once, or step by step, each conditioned on the one before"""
    density: Literal['normal', 'square', 'student', 'quantiles', 'mixture', 'bins']
    """what is said of each value; square: its mean, learned by squared error, with deviations of errors on validation data"""
    components: int
    """mixture: number of normals"""
    bins: int
    """bins: number of intervals that values are sorted into"""
    channel_independent: bool
    """each channel is forecast from its own past, by the same network; otherwise from that of all channels"""
    linear: bool
    """add a linear map of the past, which the network corrects"""
    normalise: Literal['last', 'mean', 'none']
    """direct: values are read and said relative to the last one, or to the mean of the window in units of its deviation"""

class ForecastFit(ForecastSettings, total=False):
    resume: bool
    """go on with a fit that was killed"""
    overwrite: bool
    """replace the run that is there"""
    report: Words
    """page to write about the fit: .html"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""

class ForecastCompare(ForecastSettings, total=False):
    folds: int | None
    """every so many-th part of the data is the test in turn"""
    seeds: int
    """fits of each network from so many seeds: intervals then cover seeds, too"""
    margin: float
    """share of the best figure below which a difference does not matter"""
    units: Words
    """units with commas between: one table of all, on the same raw text (language)"""
    curve: bool
    """fit six sizes of the data, too: what more of it would give, and where models cross"""
    pretrained: Words
    """local folder of a pretrained model, in Hugging Face's layout: one more row, marked; nothing is downloaded"""
    max_size: int | None
    """bytes of a model to be recommended, at most"""
    min_speed: float | None
    """symbols per second of a model to be recommended, at least"""
    resume: bool
    """go on with a comparison that was killed: rows it has are kept"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""
    repeat: Words
    """folder or table.json of a comparison to do again: same data, models, settings, seeds"""
    valid: Source
    """a file of its own"""
    test: Source
    """a file of its own"""

class ForecastEvaluate(TypedDict, total=False):
    begin: Words
    """first moment to be forecast: a row number, a share such as 0.8, or a date (default: the last fifth)"""
    end: Words
    """first moment that is not judged: a row number, a share or a date (default: the end)"""
    whole: bool
    """only origins whose whole horizon comes, where a series has room for one; otherwise those near its end, too, of which first steps are judged"""
    stride: int
    """steps from one origin to the next"""
    refit: int
    """fit again after so many origins, on all that is known then; 0: never"""
    sliding: int
    """refit: on the last so many steps only; 0: on all"""
    paths: int
    """step by step: sample paths from which quantiles are taken"""
    past: Words
    """a file with what came before: its series go on in the data, which are forecast from where they begin, one horizon after another"""
    against: Predictor | None
    """another run: is this one better? by the test of the task's figure"""

class ForecastPredict(TypedDict, total=False):
    paths: int
    """also so many sample paths, of models that go step by step"""
    only: Words
    """of several series the one of this name"""

class ForecastBacktest(TypedDict, total=False):
    begin: Words
    """first moment to be forecast: a row number, a share such as 0.8, or a date (default: twelve horizons before the end, or the second half)"""
    end: Words
    """first moment that is not judged: a row number, a share or a date (default: the end)"""
    whole: bool
    """only origins whose whole horizon comes"""
    stride: int
    """steps from one origin to the next; 0: a horizon"""
    refit: int
    """fit again after so many origins, on all that is known then; 0: never"""
    sliding: int
    """refit: on the last so many steps only; 0: on all"""
    paths: int
    """step by step: sample paths from which quantiles are taken"""
    only: Words
    """of several series the one of this name"""

class ForecastLags(TypedDict, total=False):
    input_format: Words
    """text, csv, tsv, jsonl, parquet, conllu, columns, labelled, fasta, pgn, moves, wav, png, pixels, midi, roll, svg, strokes, quickdraw; default: as the name of the file ends"""
    columns: Words
    """names of the columns of a table without a header: label,text; of CoNLL-U: form,xpos, and further fields"""
    decimal: Literal['', 'point', 'comma']
    """csv, tsv: the mark before decimals; default: as found"""
    sample_rate: int
    """wav: samples a second, by averaging; 0: as the file has them"""
    frame: int
    """wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples"""
    time: Words
    """the column of moments; default: found by name or content"""
    series: Words
    """which series a row of a long table belongs to"""
    channels: Words
    """the columns to be forecast, with commas between; default: all"""
    known: Words
    """columns that are known in advance, with commas between"""
    encoding: Words
    """of text: latin-1, utf-16, ...; default: UTF-8, or a guess"""
    fill: Literal['refuse', 'previous', 'linear', 'mean', 'keep']
    """what becomes of gaps"""
    lags: int
    """how many values before each are columns"""
    horizon: int
    """how many values are to be learned"""
    windows: int | str | Sequence[int]
    """mean, deviation, least and largest of the last so many: 7,28"""
    out: Words
    """the table to write: .csv, .tsv, .parquet; default: show its first rows"""

class FittedForecast(Forecaster):
    def evaluate(self, data: Source, **options: Unpack[ForecastEvaluate]) -> Result:
        """How well it would have forecast: walking forward, errors by horizon, coverage."""
    def predict(self, data: Source, **options: Unpack[ForecastPredict]) -> Result:
        """The next numbers of each series, with quantiles."""
    def backtest(self, data: Source, **options: Unpack[ForecastBacktest]) -> Result:
        """Forecasts from every origin, beside what came."""

class AutoencodeSettings(Settings, total=False):
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    distinct: bool
    """of equal sequences keep the first only"""
    sample_rate: int
    """wav: samples a second, by averaging; 0: as the file has them"""
    frame: int
    """wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples"""
    unit: Literal['character', 'byte', 'word', 'token', 'subword']
    """what counts as one symbol"""
    vocabulary: int | None
    """keep at most this many symbols (subword: how many to learn, default 1000)"""
    minimum_count: int
    """a symbol seen less often than this in training is unknown"""
    lower: bool
    """lower-case the text first"""
    method: Literal['byte-pair', 'unigram']
    """how subwords are learned"""
    tokenizer: Words
    """a tokenizer made elsewhere: a file tokenizer.json or a sentencepiece .model; the unit is then subword"""
    phrases: int
    """word: join pairs of words that stand together more often than chance, in so many rounds: 1 gives pairs, 2 up to four words"""
    phrase_score: float
    """phrases: how much more often; higher joins fewer"""
    scale: Literal['standard', 'none']
    """numbers: mean 0 and variance 1 by the training data, or as they are"""
    condition: Words
    """autoencode: fields that the writer is conditioned on, with commas between, such as label: a class, an author, a style"""
    mixer: Literal['none', 'rnn', 'gru', 'gru-before', 'additive-recurrent', 'lstm', 'coupled', 'no-output-gate', 'additive', 'convolution', 'attention']
    """how a position sees the ones before it"""
    layers: int
    """number of blocks"""
    residual: bool
    """add each part's input to its output, with a norm before or after"""
    norm: Literal['layer', 'rms']
    """with residual: LayerNorm or RMSNorm"""
    norm_place: Literal['before', 'after']
    """with residual: before each part, or after it as in the first Transformer"""
    feed_forward: float
    """width of the feed-forward part, in multiples of the width; 0 leaves it out"""
    feed_forward_activation: Literal['relu', 'gelu', 'gelu-tanh', 'gated']
    """activation of the feed-forward part"""
    dropout: float
    """share of activations dropped in training"""
    weight_dropout: float
    """recurrence: share of recurrent weights dropped in training"""
    tied: bool
    """the output layer shares the embedding's weights"""
    output_bias: bool
    """the output layer has a bias; without one a transformer can be written as a GPT-2"""
    activation: Literal['tanh', 'sigmoid', 'relu']
    """rnn and plain convolution: the nonlinearity"""
    initial: Literal['orthogonal', 'uniform']
    """recurrence: how the recurrent weights begin"""
    cell_output: Literal['tanh', 'linear']
    """lstm, coupled, no-output-gate: h is made of tanh(c), or of c itself"""
    norm_inside: bool
    """recurrence: LayerNorm of W x and of U h within each step (Ba et al. 2016)"""
    radius: float
    """recurrence: scale the recurrent matrices to this spectral radius at the start; 0 leaves them as --initial makes them"""
    heads: int
    """attention: number of heads"""
    context: int
    """attention: how many positions back, itself included"""
    score: Literal['dot', 'scaled', 'bilinear', 'mlp', 'uniform']
    """attention: how well a query fits a key"""
    head_width: int
    """attention: numbers of each head's queries, keys and values; 0: width / heads"""
    maps: bool
    """attention: queries, keys and values are learned maps of the vectors, not the vectors themselves"""
    positions: Literal['rotary', 'sinusoidal', 'learned', 'concatenated', 'none']
    """attention: how it knows where things stand"""
    kernel: int
    """convolution: width of the kernel, in positions"""
    dilation: int
    """convolution: a position hears every so many-th before it; 1: plain, 0: doubling with each layer"""
    gated: bool
    """convolution: each value is let through by a gate; otherwise plain, with an activation"""
    word_vectors: Words
    """begin with these word vectors: a file of word2vec, GloVe or fastText, or a run of `fit words`; --width must be theirs, but for labels, whose --embedding becomes theirs"""
    frozen: bool
    """the embedding stays as it begins"""
    bidirectional: bool
    """when it is read, each position sees what comes after it, too"""
    encoder_mixer: Literal['', 'none', 'rnn', 'gru', 'gru-before', 'additive-recurrent', 'lstm', 'coupled', 'no-output-gate', 'additive', 'convolution', 'attention']
    """how a position sees the others when the sequence is read (default: as --mixer)"""
    latent: int
    """size of the vector; 0: none, the sequence is written from nothing but its --condition"""
    variational: bool
    """the vector is a normal distribution near the one that samples are drawn from; otherwise just a vector"""
    into: Literal['state', 'every', 'both']
    """how the writer receives the vector: as its first state, at every step, or both"""
    teacher_forcing: bool
    """what was written before is an input (teacher forcing); otherwise the vector is all that is known"""
    word_dropout: float
    """share of the inputs of the writer that are unknown in training, so that it needs the vector"""
    annealing: Literal['none', 'linear', 'cyclic']
    """variational: how the price of a vector rises in training"""
    rising: float
    """linear: share of training until it is full; cyclic: there are four cycles, and this is the share of each"""
    free_bits: float
    """variational: nats by which each number of the vector may tell sequences apart for nothing (free bits)"""
    components: int
    """numbers: how many normals are mixed"""

class AutoencodeFit(AutoencodeSettings, total=False):
    resume: bool
    """go on with a fit that was killed"""
    overwrite: bool
    """replace the run that is there"""
    report: Words
    """page to write about the fit: .html"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""

class AutoencodeCompare(AutoencodeSettings, total=False):
    folds: int | None
    """every so many-th part of the data is the test in turn"""
    seeds: int
    """fits of each network from so many seeds: intervals then cover seeds, too"""
    margin: float
    """share of the best figure below which a difference does not matter"""
    units: Words
    """units with commas between: one table of all, on the same raw text (language)"""
    curve: bool
    """fit six sizes of the data, too: what more of it would give, and where models cross"""
    pretrained: Words
    """local folder of a pretrained model, in Hugging Face's layout: one more row, marked; nothing is downloaded"""
    max_size: int | None
    """bytes of a model to be recommended, at most"""
    min_speed: float | None
    """symbols per second of a model to be recommended, at least"""
    resume: bool
    """go on with a comparison that was killed: rows it has are kept"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""
    repeat: Words
    """folder or table.json of a comparison to do again: same data, models, settings, seeds"""
    valid: Source
    """a file of its own"""
    test: Source
    """a file of its own"""

class AutoencodeEvaluate(TypedDict, total=False):
    against: Predictor | None
    """another run: is this one better? by the test of the task's figure"""
    draws: int
    """draws of the vector for the likelihood of a sequence"""

class AutoencodePredict(TypedDict, total=False):
    top: int
    """how many of the likeliest are shown"""

class AutoencodeNeighbours(TypedDict, total=False):
    to: Words
    """the text, or the number of a sequence of the data, counted from 1"""
    top: int
    """how many of the nearest sequences"""

class AutoencodeGenerate(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    repetition_penalty: float
    """above 1 makes symbols already written less likely"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    count: int
    """how many results (with --beam: the n best, at most its width)"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    stop: Words
    """end a result at this symbol, which is not written"""
    label: Words
    """what it is conditioned on: spam, or author=Poe,style=verse"""

class AutoencodeInterpolate(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    repetition_penalty: float
    """above 1 makes symbols already written less likely"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    stop: Words
    """end a result at this symbol, which is not written"""
    ends: Words
    """numbers of two or four sequences, such as 1,2 (default: the first two)"""
    count: int
    """sequences on the way; of four ends a grid of count x count"""
    label: Words
    """what they are conditioned on"""

class AutoencodeAnalogy(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    repetition_penalty: float
    """above 1 makes symbols already written less likely"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    stop: Words
    """end a result at this symbol, which is not written"""
    of: Words
    """a file: the numbers 1 - 2 + 3 name its sequences (default: texts)"""
    label: Words
    """what it is conditioned on"""

class AutoencodeComplete(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    repetition_penalty: float
    """above 1 makes symbols already written less likely"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    count: int
    """how many results (with --beam: the n best, at most its width)"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    stop: Words
    """end a result at this symbol, which is not written"""
    number: int
    """which sequence of the data, counted from 1"""
    part: float
    """after this part of it"""
    label: Words
    """what it is conditioned on"""

class FittedAutoencode(Autoencoding):
    def evaluate(self, data: Source, **options: Unpack[AutoencodeEvaluate]) -> Result:
        """Nats per symbol, what the vectors say, and how well sequences are written again."""
    def embed(self, data: Source) -> Result:
        """A vector for each sequence."""
    def reconstruct(self, data: Source) -> Result:
        """Each sequence written again from its vector."""
    def predict(self, data: Source, **options: Unpack[AutoencodePredict]) -> Result:
        """The label of each sequence, by Bayes' rule, of models conditioned on one."""
    def score(self, data: Source) -> Result:
        """One line a sequence: its log-probability, number of symbols, number unknown."""
    def neighbours(self, data: Source, **options: Unpack[AutoencodeNeighbours]) -> Result:
        """The sequences of the data whose vectors are nearest to that of another."""
    def generate(self, prompt: str = ..., **options: Unpack[AutoencodeGenerate]) -> Result:
        """Let it write, from vectors drawn at random."""
    def interpolate(self, data: Source, **options: Unpack[AutoencodeInterpolate]) -> Result:
        """Sequences on the way from one vector to another, or a grid between four."""
    def analogy(self, text: str, **options: Unpack[AutoencodeAnalogy]) -> Result:
        """Vectors added and subtracted, and what is written from that."""
    def complete(self, data: Source, **options: Unpack[AutoencodeComplete]) -> Result:
        """Go on with the first part of a sequence of numbers."""

class WordsSettings(Settings, total=False):
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    distinct: bool
    """of equal sequences keep the first only"""
    unit: Literal['character', 'byte', 'word', 'token', 'subword']
    """what counts as one symbol"""
    vocabulary: int | None
    """keep at most this many symbols (subword: how many to learn, default 1000)"""
    minimum_count: int
    """a symbol seen less often than this in training is unknown"""
    lower: bool
    """lower-case the text first"""
    method: Literal['byte-pair', 'unigram']
    """how subwords are learned"""
    tokenizer: Words
    """a tokenizer made elsewhere: a file tokenizer.json or a sentencepiece .model; the unit is then subword"""
    phrases: int
    """word: join pairs of words that stand together more often than chance, in so many rounds: 1 gives pairs, 2 up to four words"""
    phrase_score: float
    """phrases: how much more often; higher joins fewer"""
    window: int
    """how many words to each side are its neighbours"""
    dynamic_window: bool
    """the reach of each window is drawn between 1 and --window, so that near words count more"""
    output: Literal['softmax', 'negative', 'hierarchical']
    """how a guess is judged: against all words, against a few drawn at random, or along a Huffman tree"""
    negatives: int
    """negative: how many words are drawn"""
    power: float
    """negative: words are drawn by their frequency to this power"""
    subsample: float
    """words more frequent than this share of the text are often left out; 0 keeps all"""
    exact: bool
    """cbow and subwords: the exact gradient; otherwise word2vec's own, the whole of it to each word"""
    subwords: int | str | Sequence[int]
    """also a vector for each run of characters from and to these lengths, such as 3,6: unseen words have vectors, too"""
    buckets: int
    """subwords: how many vectors they share"""
    deterministic: bool
    """the same seed and number of threads give the same bits; otherwise threads do not wait for each other"""
    watch: Words
    """a file of analogies or of similarities: looked at with every validation"""
    most: float
    """glove: pairs that stand together this often or more count fully"""
    fading: float
    """glove: pairs that stand together less often count by their share of --most to this power"""

class WordsFit(WordsSettings, total=False):
    resume: bool
    """go on with a fit that was killed"""
    overwrite: bool
    """replace the run that is there"""
    report: Words
    """page to write about the fit: .html"""
    track: Literal['', 'tensorboard']
    """also write curves for this program, into the folder"""

class WordsEvaluate(TypedDict, total=False):
    most: int
    """only the most frequent words are answers"""
    method: Literal['add', 'mul']
    """sum of cosines, or their product (3CosMul)"""
    column: Words
    """the column of the scores in a file of similarities (the third)"""

class WordsPredict(TypedDict, total=False):
    top: int
    """how many of the likeliest are shown"""

class WordsNeighbours(TypedDict, total=False):
    top: int
    """how many of the nearest words"""

class WordsAnalogy(TypedDict, total=False):
    top: int
    """how many of the nearest words"""
    method: Literal['add', 'mul', 'prediction']
    """sum of cosines, their product (3CosMul), or what the output layer predicts of the sum"""

class WordsDirection(TypedDict, total=False):
    top: int
    """how many of the nearest words"""

class WordsMissing(TypedDict, total=False):
    top: int
    """how many of the nearest words"""

class WordsAnalogies(TypedDict, total=False):
    top: int
    """how many of the nearest words"""
    method: Literal['add', 'mul', 'prediction']
    """sum of cosines, their product (3CosMul), or what the output layer predicts of the sum"""

class WordsPairs(TypedDict, total=False):
    window: int
    """how many words to each side are neighbours"""
    start: bool
    """<start> is a word before the first"""
    punctuation: bool
    """marks are words, too; false: they are left out"""
    lower: bool
    """lower-case the sentence first"""

class WordsMap(TypedDict, total=False):
    plane: Literal['pca', 'tsne']
    """principal components, or t-SNE"""

class WordsExport(TypedDict, total=False):
    out: Words
    """the file: .txt, .bin, .vec, .glove, .safetensors; texts also .gz, .xz"""

class FittedWords(WordPredictor):
    def evaluate(self, data: str | Path, **options: Unpack[WordsEvaluate]) -> Result:
        """How far it can be trusted: a file of analogies, or of pairs with their similarity."""
    def predict(self, data: Source, **options: Unpack[WordsPredict]) -> Result:
        """The likeliest words at the * of each line."""
    def neighbours(self, words: str, **options: Unpack[WordsNeighbours]) -> Result:
        """The nearest words of a word."""
    def analogy(self, words: str, **options: Unpack[WordsAnalogy]) -> Result:
        """Words added and subtracted."""
    def direction(self, words: str, **options: Unpack[WordsDirection]) -> Result:
        """Where the mean way of some pairs leads from a word."""
    def odd(self, words: str) -> Result:
        """The one that does not belong."""
    def missing(self, words: str, **options: Unpack[WordsMissing]) -> Result:
        """What stands at a gap."""
    def analogies(self, file: str | Path, **options: Unpack[WordsAnalogies]) -> Result:
        """Many analogies, one a line of a file."""
    def map(self, words: str = ..., **options: Unpack[WordsMap]) -> Result:
        """Words in a plane, with arrows between pairs: paris france, tokyo japan."""
    def export(self, **options: Unpack[WordsExport]) -> Result:
        """Write the vectors for other programs."""

class AnyEvaluate(TypedDict, total=False):
    against: Predictor | str | Path | Sequence[Predictor | str | Path] | None
    """another run: is this one better? by the test of the task's figure"""
    positive: Words
    """choose a threshold for this label"""
    threshold: float | None
    """positive: measure at this probability, chosen elsewhere"""
    most_false: float
    """such that at most this share of the others is taken for it"""
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    coverage: float
    """translate, beam: how much it counts that all of the source was attended to (Wu et al. 2016)"""
    prefix: Words
    """what every result begins with"""
    must: Words
    """translate, beam: words or phrases, with commas between, that every result has"""
    never: Words
    """words or phrases, with commas between, that no result has"""
    min_bayes_risk: int
    """translate: of so many samples the one nearest to all others (minimum Bayes risk)"""
    count: int
    """how many results (with --beam: the n best, at most its width)"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    begin: Words
    """first moment to be forecast: a row number, a share such as 0.8, or a date (default: the last fifth)"""
    end: Words
    """first moment that is not judged: a row number, a share or a date (default: the end)"""
    whole: bool
    """only origins whose whole horizon comes, where a series has room for one; otherwise those near its end, too, of which first steps are judged"""
    stride: int
    """steps from one origin to the next"""
    refit: int
    """fit again after so many origins, on all that is known then; 0: never"""
    sliding: int
    """refit: on the last so many steps only; 0: on all"""
    paths: int
    """step by step: sample paths from which quantiles are taken"""
    past: Words
    """a file with what came before: its series go on in the data, which are forecast from where they begin, one horizon after another"""
    draws: int
    """draws of the vector for the likelihood of a sequence"""
    most: int
    """only the most frequent words are answers"""
    method: Literal['add', 'mul']
    """sum of cosines, or their product (3CosMul)"""
    column: Words
    """the column of the scores in a file of similarities (the third)"""

class EvaluateOptions(AnyEvaluate, total=False):
    input_format: Words
    """text, csv, tsv, jsonl, parquet, conllu, columns, labelled, fasta, pgn, moves, wav, png, pixels, midi, roll, svg, strokes, quickdraw; default: as the name of the file ends"""
    columns: Words
    """names of the columns of a table without a header: label,text; of CoNLL-U: form,xpos, and further fields"""
    decimal: Literal['', 'point', 'comma']
    """csv, tsv: the mark before decimals; default: as found"""
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    encoding: Words
    """of text: latin-1, utf-16, ...; default: UTF-8, or a guess"""
    distinct: bool
    """of equal sequences keep the first only"""
    greys: int
    """png: greys to which pixels are rounded; 0: 8"""
    label: Words
    """which field holds the labels (default: label) or values (value)"""
    time: Words
    """series: the column of moments; default: found by name or content"""
    series: Words
    """which series a row of a long table belongs to; each is a sequence"""
    channels: Words
    """series: the columns to be read, with commas between; default: all"""
    fill: Literal['refuse', 'previous', 'linear', 'mean', 'keep']
    """series: what becomes of gaps"""
    sample_rate: int
    """wav: samples a second, by averaging; 0: as the file has them"""
    frame: int
    """wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples"""
    grid: int
    """midi: steps in a whole note; 0: 16"""
    struck: bool
    """midi: the notes that are struck in each step, not all that sound"""
    also: Words
    """further columns that are read beside the source, with commas between: texts, symbols or numbers, each by an encoder of its own"""
    known: Words
    """columns that are known in advance, with commas between"""
    int8: bool
    """8 bits"""
    device: str
    """where"""
    with_runs: Sequence[Any]
    """more runs"""
    report: str | Path
    """page to write"""

class AnyScore(TypedDict, total=False):
    pass

class ScoreOptions(AnyScore, total=False):
    input_format: Words
    """text, csv, tsv, jsonl, parquet, conllu, columns, labelled, fasta, pgn, moves, wav, png, pixels, midi, roll, svg, strokes, quickdraw; default: as the name of the file ends"""
    columns: Words
    """names of the columns of a table without a header: label,text; of CoNLL-U: form,xpos, and further fields"""
    decimal: Literal['', 'point', 'comma']
    """csv, tsv: the mark before decimals; default: as found"""
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    encoding: Words
    """of text: latin-1, utf-16, ...; default: UTF-8, or a guess"""
    distinct: bool
    """of equal sequences keep the first only"""
    greys: int
    """png: greys to which pixels are rounded; 0: 8"""
    label: Words
    """which field holds the labels (default: label) or values (value)"""
    time: Words
    """series: the column of moments; default: found by name or content"""
    series: Words
    """which series a row of a long table belongs to; each is a sequence"""
    channels: Words
    """series: the columns to be read, with commas between; default: all"""
    fill: Literal['refuse', 'previous', 'linear', 'mean', 'keep']
    """series: what becomes of gaps"""
    sample_rate: int
    """wav: samples a second, by averaging; 0: as the file has them"""
    frame: int
    """wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples"""
    grid: int
    """midi: steps in a whole note; 0: 16"""
    struck: bool
    """midi: the notes that are struck in each step, not all that sound"""
    also: Words
    """further columns that are read beside the source, with commas between: texts, symbols or numbers, each by an encoder of its own"""
    known: Words
    """columns that are known in advance, with commas between"""
    int8: bool
    """8 bits"""
    device: str
    """where"""
    with_runs: Sequence[Any]
    """more runs"""

class AnyPredict(TypedDict, total=False):
    top: int
    """how many of the likeliest are shown"""
    probabilities: bool
    """the probabilities of all labels, whatever --top is"""
    positive: Words
    """this label is found from the probability --threshold on"""
    threshold: float | None
    """positive: the probability (0.5)"""
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    coverage: float
    """translate, beam: how much it counts that all of the source was attended to (Wu et al. 2016)"""
    prefix: Words
    """what every result begins with"""
    must: Words
    """translate, beam: words or phrases, with commas between, that every result has"""
    never: Words
    """words or phrases, with commas between, that no result has"""
    min_bayes_risk: int
    """translate: of so many samples the one nearest to all others (minimum Bayes risk)"""
    count: int
    """how many results (with --beam: the n best, at most its width)"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    paths: int
    """also so many sample paths, of models that go step by step"""
    only: Words
    """of several series the one of this name"""

class PredictOptions(AnyPredict, total=False):
    input_format: Words
    """text, csv, tsv, jsonl, parquet, conllu, columns, labelled, fasta, pgn, moves, wav, png, pixels, midi, roll, svg, strokes, quickdraw; default: as the name of the file ends"""
    columns: Words
    """names of the columns of a table without a header: label,text; of CoNLL-U: form,xpos, and further fields"""
    decimal: Literal['', 'point', 'comma']
    """csv, tsv: the mark before decimals; default: as found"""
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    encoding: Words
    """of text: latin-1, utf-16, ...; default: UTF-8, or a guess"""
    distinct: bool
    """of equal sequences keep the first only"""
    greys: int
    """png: greys to which pixels are rounded; 0: 8"""
    label: Words
    """which field holds the labels (default: label) or values (value)"""
    time: Words
    """series: the column of moments; default: found by name or content"""
    series: Words
    """which series a row of a long table belongs to; each is a sequence"""
    channels: Words
    """series: the columns to be read, with commas between; default: all"""
    fill: Literal['refuse', 'previous', 'linear', 'mean', 'keep']
    """series: what becomes of gaps"""
    sample_rate: int
    """wav: samples a second, by averaging; 0: as the file has them"""
    frame: int
    """wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples"""
    grid: int
    """midi: steps in a whole note; 0: 16"""
    struck: bool
    """midi: the notes that are struck in each step, not all that sound"""
    also: Words
    """further columns that are read beside the source, with commas between: texts, symbols or numbers, each by an encoder of its own"""
    known: Words
    """columns that are known in advance, with commas between"""
    int8: bool
    """8 bits"""
    device: str
    """where"""
    with_runs: Sequence[Any]
    """more runs"""

class AnyGenerate(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    repetition_penalty: float
    """above 1 makes symbols already written less likely"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    exact: bool
    """the most probable sequence of all of this length, for count models of low order"""
    draft: Words
    """run folder of a cheap model that guesses ahead: the same text, sooner (see docs/decoding.md)"""
    ahead: int
    """draft: how many symbols it guesses ahead"""
    count: int
    """how many results (with --beam: the n best, at most its width)"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    stop: Words
    """end a result at this symbol, which is not written"""
    coverage: float
    """translate, beam: how much it counts that all of the source was attended to (Wu et al. 2016)"""
    prefix: Words
    """what every result begins with"""
    must: Words
    """translate, beam: words or phrases, with commas between, that every result has"""
    never: Words
    """words or phrases, with commas between, that no result has"""
    min_bayes_risk: int
    """translate: of so many samples the one nearest to all others (minimum Bayes risk)"""
    label: Words
    """what it is conditioned on: spam, or author=Poe,style=verse"""

class GenerateOptions(AnyGenerate, total=False):
    int8: bool
    """8 bits"""
    device: str
    """where"""
    with_runs: Sequence[Any]
    """more runs"""

class AnyNgrams(TypedDict, total=False):
    top: int
    """how many symbols are shown"""

class AnyFrequencies(TypedDict, total=False):
    phrases: Words
    """the phrases to be counted, with commas between"""
    date: Words
    """the field with the dates: 1843, 1843-05, 1843-05-01 and such"""
    every: Literal['year', 'month', 'day']
    """the period that is counted"""
    smooth: int
    """moving average over so many periods on each side"""
    unit: Literal['word', 'token', 'character']
    """what phrases are made of"""
    lower: bool
    """lower-case text and phrases first"""
    field: Words
    """the field with the text"""
    columns: Words
    """names of the columns of a table without a header"""
    input_format: Words
    """the format, if the ending does not tell"""

class AnySurprisal(TypedDict, total=False):
    pass

class AnyEmbed(TypedDict, total=False):
    layer: int
    """of this layer, counted from 1; 0: behind the last"""
    each: Literal['position', 'sequence']
    """a vector for each position, or for each sequence their mean"""

class AnyAttention(TypedDict, total=False):
    layer: int
    """only the heads of this layer, counted from 1; 0: of all"""
    head: int
    """only this head of each layer, counted from 1; 0: all"""

class AnyPositions(TypedDict, total=False):
    most: int
    """how many positions, from the first on"""

class AnyGates(TypedDict, total=False):
    layer: int
    """only this layer, counted from 1, the lowest; 0: all"""

class AnyUnits(TypedDict, total=False):
    layer: int
    """only units of this layer, counted from 1; 0: of all"""
    unit: int
    """only this unit of each layer, counted from 1; 0: of all"""
    count: int
    """how many units, those first that are worth most"""
    marker: Literal['', 'quote', 'bracket', 'line', 'word', 'capital', 'digit']
    """the units that follow this best, as it stands in the text (default: those that change most)"""

class AnyGradient(TypedDict, total=False):
    pass

class AnyInfluence(TypedDict, total=False):
    pass

class AnyImpulse(TypedDict, total=False):
    radius: Words
    """spectral radii of the recurrent matrix, with commas between"""
    width: int
    """size of the state"""
    steps: int
    """how many steps after the push"""
    activation: Literal['linear', 'tanh']
    """what is applied to the state at each step"""
    seed: int
    """random numbers: matrix, inputs and push"""

class AnyCompress(TypedDict, total=False):
    out: Words
    """the compressed file, such as book.srt"""

class AnyRestore(TypedDict, total=False):
    out: Words
    """the text that was compressed"""

class AnyExport(TypedDict, total=False):
    out: Words
    """what to write: .arpa, .arpa.gz, .arpa.xz; or a folder, for a GPT-2"""

class AnyExplain(TypedDict, total=False):
    label: Words
    """the label that is explained (default: the one that is found)"""
    method: Literal['', 'exact', 'occlusion', 'gradient']
    """by which method (default: the best this model has)"""

class AnyGraph(TypedDict, total=False):
    pass

class AnyBest(TypedDict, total=False):
    count: int
    """how many rows of tags, of models that judge them together"""

class AnyAnnotate(TypedDict, total=False):
    out: Words
    """the file to write"""
    input_format: Words
    """conllu or columns, if the ending does not tell"""

class AnyComplete(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    count: int
    """how many results (with --beam: the n best, at most its width)"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    number: int
    """which sequence of the data, counted from 1"""
    part: float
    """after this part of it"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    repetition_penalty: float
    """above 1 makes symbols already written less likely"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    stop: Words
    """end a result at this symbol, which is not written"""
    label: Words
    """what it is conditioned on"""

class AnyAlignment(TypedDict, total=False):
    target: Words
    """this target instead of the model's own"""

class AnyTree(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    prefix: Words
    """what every result begins with"""
    must: Words
    """translate, beam: words or phrases, with commas between, that every result has"""
    never: Words
    """words or phrases, with commas between, that no result has"""

class AnyBacktest(TypedDict, total=False):
    begin: Words
    """first moment to be forecast: a row number, a share such as 0.8, or a date (default: twelve horizons before the end, or the second half)"""
    end: Words
    """first moment that is not judged: a row number, a share or a date (default: the end)"""
    whole: bool
    """only origins whose whole horizon comes"""
    stride: int
    """steps from one origin to the next; 0: a horizon"""
    refit: int
    """fit again after so many origins, on all that is known then; 0: never"""
    sliding: int
    """refit: on the last so many steps only; 0: on all"""
    paths: int
    """step by step: sample paths from which quantiles are taken"""
    only: Words
    """of several series the one of this name"""

class AnyLags(TypedDict, total=False):
    input_format: Words
    """text, csv, tsv, jsonl, parquet, conllu, columns, labelled, fasta, pgn, moves, wav, png, pixels, midi, roll, svg, strokes, quickdraw; default: as the name of the file ends"""
    columns: Words
    """names of the columns of a table without a header: label,text; of CoNLL-U: form,xpos, and further fields"""
    decimal: Literal['', 'point', 'comma']
    """csv, tsv: the mark before decimals; default: as found"""
    sample_rate: int
    """wav: samples a second, by averaging; 0: as the file has them"""
    frame: int
    """wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples"""
    time: Words
    """the column of moments; default: found by name or content"""
    series: Words
    """which series a row of a long table belongs to"""
    channels: Words
    """the columns to be forecast, with commas between; default: all"""
    known: Words
    """columns that are known in advance, with commas between"""
    encoding: Words
    """of text: latin-1, utf-16, ...; default: UTF-8, or a guess"""
    fill: Literal['refuse', 'previous', 'linear', 'mean', 'keep']
    """what becomes of gaps"""
    lags: int
    """how many values before each are columns"""
    horizon: int
    """how many values are to be learned"""
    windows: int | str | Sequence[int]
    """mean, deviation, least and largest of the last so many: 7,28"""
    out: Words
    """the table to write: .csv, .tsv, .parquet; default: show its first rows"""

class AnyReconstruct(TypedDict, total=False):
    pass

class AnyNeighbours(TypedDict, total=False):
    to: Words
    """the text, or the number of a sequence of the data, counted from 1"""
    top: int
    """how many of the nearest sequences"""

class AnyInterpolate(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    repetition_penalty: float
    """above 1 makes symbols already written less likely"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    stop: Words
    """end a result at this symbol, which is not written"""
    ends: Words
    """numbers of two or four sequences, such as 1,2 (default: the first two)"""
    count: int
    """sequences on the way; of four ends a grid of count x count"""
    label: Words
    """what they are conditioned on"""

class AnyAnalogy(TypedDict, total=False):
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    repetition_penalty: float
    """above 1 makes symbols already written less likely"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    seed: int
    """random numbers of the first result; each further one adds 1"""
    stop: Words
    """end a result at this symbol, which is not written"""
    of: Words
    """a file: the numbers 1 - 2 + 3 name its sequences (default: texts)"""
    label: Words
    """what it is conditioned on"""
    top: int
    """how many of the nearest words"""
    method: Literal['add', 'mul', 'prediction']
    """sum of cosines, their product (3CosMul), or what the output layer predicts of the sum"""

class AnyDirection(TypedDict, total=False):
    top: int
    """how many of the nearest words"""

class AnyOdd(TypedDict, total=False):
    pass

class AnyMissing(TypedDict, total=False):
    top: int
    """how many of the nearest words"""

class AnyAnalogies(TypedDict, total=False):
    top: int
    """how many of the nearest words"""
    method: Literal['add', 'mul', 'prediction']
    """sum of cosines, their product (3CosMul), or what the output layer predicts of the sum"""

class AnyPairs(TypedDict, total=False):
    window: int
    """how many words to each side are neighbours"""
    start: bool
    """<start> is a word before the first"""
    punctuation: bool
    """marks are words, too; false: they are left out"""
    lower: bool
    """lower-case the sentence first"""

class AnyMap(TypedDict, total=False):
    plane: Literal['pca', 'tsne']
    """principal components, or t-SNE"""

class PlotOptions(TypedDict, total=False):
    layer: int
    """only the heads of this layer, counted from 1; 0: of all"""
    head: int
    """only this head of each layer, counted from 1; 0: all"""
    unit: int | Literal['word', 'token', 'character'] | Literal['', 'word', 'token', 'character', 'byte']
    """only this unit of each layer, counted from 1; 0: of all"""
    count: int
    """how many units, those first that are worth most"""
    marker: Literal['', 'quote', 'bracket', 'line', 'word', 'capital', 'digit']
    """the units that follow this best, as it stands in the text (default: those that change most)"""
    most: int
    """how many positions, from the first on"""
    radius: Words
    """spectral radii of the recurrent matrix, with commas between"""
    width: int
    """size of the state"""
    steps: int
    """how many steps after the push"""
    activation: Literal['linear', 'tanh']
    """what is applied to the state at each step"""
    seed: int
    """random numbers: matrix, inputs and push"""
    phrases: Words
    """the phrases to be counted, with commas between"""
    date: Words
    """the field with the dates: 1843, 1843-05, 1843-05-01 and such"""
    every: Literal['year', 'month', 'day']
    """the period that is counted"""
    smooth: int
    """moving average over so many periods on each side"""
    lower: bool
    """lower-case text and phrases first"""
    field: Words
    """which field of a table to read"""
    columns: Words
    """names of the columns of a table without a header: label,text; of CoNLL-U: form,xpos, and further fields"""
    input_format: Words
    """text, csv, tsv, jsonl, parquet, conllu, columns, labelled, fasta, pgn, moves, wav, png, pixels, midi, roll, svg, strokes, quickdraw; default: as the name of the file ends"""
    against: Words
    """another run: is this one better? by the test of the task's figure"""
    positive: Words
    """choose a threshold for this label"""
    threshold: float | None
    """positive: measure at this probability, chosen elsewhere"""
    most_false: float
    """such that at most this share of the others is taken for it"""
    label: Words
    """which field holds the labels (default: label) or values (value)"""
    method: Literal['', 'exact', 'occlusion', 'gradient']
    """by which method (default: the best this model has)"""
    length: int
    """symbols to write at most"""
    temperature: float
    """below 1 is bolder towards the likely, above 1 more varied; 0 is greedy"""
    target: Words
    """this target instead of the model's own"""
    beam: int
    """width of beam search, at least as many as --count; 0: none"""
    length_penalty: float
    """beam: scores are divided by length to this power"""
    prefix: Words
    """what every result begins with"""
    must: Words
    """translate, beam: words or phrases, with commas between, that every result has"""
    never: Words
    """words or phrases, with commas between, that no result has"""
    top_k: int
    """sample among the k most likely symbols; 0 is all"""
    top_p: float
    """sample among the most likely symbols that together have this probability"""
    min_p: float
    """leave out symbols below this share of the most likely one"""
    coverage: float
    """translate, beam: how much it counts that all of the source was attended to (Wu et al. 2016)"""
    min_bayes_risk: int
    """translate: of so many samples the one nearest to all others (minimum Bayes risk)"""
    paths: int
    """also so many sample paths, of models that go step by step"""
    only: Words
    """of several series the one of this name"""
    begin: Words
    """first moment to be forecast: a row number, a share such as 0.8, or a date (default: twelve horizons before the end, or the second half)"""
    end: Words
    """first moment that is not judged: a row number, a share or a date (default: the end)"""
    whole: bool
    """only origins whose whole horizon comes"""
    stride: int
    """steps from one origin to the next; 0: a horizon"""
    refit: int
    """fit again after so many origins, on all that is known then; 0: never"""
    sliding: int
    """refit: on the last so many steps only; 0: on all"""
    past: Words
    """a file with what came before: its series go on in the data, which are forecast from where they begin, one horizon after another"""
    repetition_penalty: float
    """above 1 makes symbols already written less likely"""
    stop: Words
    """end a result at this symbol, which is not written"""
    ends: Words
    """numbers of two or four sequences, such as 1,2 (default: the first two)"""
    number: int
    """which sequence of the data, counted from 1"""
    part: float
    """after this part of it"""
    plane: Literal['pca', 'tsne']
    """principal components, or t-SNE"""
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    decimal: Literal['', 'point', 'comma']
    """csv, tsv: the mark before decimals; default: as found"""
    encoding: Words
    """of text: latin-1, utf-16, ...; default: UTF-8, or a guess"""
    distinct: bool
    """of equal sequences keep the first only"""
    greys: int
    """png: greys to which pixels are rounded; 0: 8"""
    time: Words
    """series: the column of moments; default: found by name or content"""
    series: Words
    """which series a row of a long table belongs to; each is a sequence"""
    channels: Words
    """series: the columns to be read, with commas between; default: all"""
    fill: Literal['refuse', 'previous', 'linear', 'mean', 'keep']
    """series: what becomes of gaps"""
    sample_rate: int
    """wav: samples a second, by averaging; 0: as the file has them"""
    frame: int
    """wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples"""
    grid: int
    """midi: steps in a whole note; 0: 16"""
    struck: bool
    """midi: the notes that are struck in each step, not all that sound"""
    also: Words
    """further columns that are read beside the source, with commas between: texts, symbols or numbers, each by an encoder of its own"""
    known: Words
    """columns that are known in advance, with commas between"""

class Check(TypedDict, total=False):
    label: Words
    """the field of the labels (default: label, class, category)"""
    unit: Literal['', 'word', 'token', 'character', 'byte']
    """what is counted (default: words of text, tokens as given)"""
    by: Literal['', 'line', 'stream']
    """text: a sequence a line (default), or one stream"""
    field: Words
    """which field to look at (default: text or tokens)"""
    columns: Words
    """names of the columns of a table without a header"""
    decimal: Literal['', 'point', 'comma']
    """csv, tsv: the mark before decimals; default: as found"""
    encoding: Words
    """of text; default: UTF-8, or a guess"""
    input_format: Words
    """the format, if the ending does not tell"""

class Reading(TypedDict, total=False):
    input_format: Words
    """text, csv, tsv, jsonl, parquet, conllu, columns, labelled, fasta, pgn, moves, wav, png, pixels, midi, roll, svg, strokes, quickdraw; default: as the name of the file ends"""
    columns: Words
    """names of the columns of a table without a header: label,text; of CoNLL-U: form,xpos, and further fields"""
    decimal: Literal['', 'point', 'comma']
    """csv, tsv: the mark before decimals; default: as found"""
    by: Literal['', 'line', 'stream']
    """text: a sequence a line, or all of it one stream; default: as the task needs it"""
    field: Words
    """which field of a table to read"""
    encoding: Words
    """of text: latin-1, utf-16, ...; default: UTF-8, or a guess"""
    distinct: bool
    """of equal sequences keep the first only"""
    greys: int
    """png: greys to which pixels are rounded; 0: 8"""
    label: Words
    """which field holds the labels (default: label) or values (value)"""
    time: Words
    """series: the column of moments; default: found by name or content"""
    series: Words
    """which series a row of a long table belongs to; each is a sequence"""
    channels: Words
    """series: the columns to be read, with commas between; default: all"""
    fill: Literal['refuse', 'previous', 'linear', 'mean', 'keep']
    """series: what becomes of gaps"""
    sample_rate: int
    """wav: samples a second, by averaging; 0: as the file has them"""
    frame: int
    """wav: log energies of 8 bands of frequencies, of so many samples each; 0: the samples"""
    grid: int
    """midi: steps in a whole note; 0: 16"""
    struck: bool
    """midi: the notes that are struck in each step, not all that sound"""
    also: Words
    """further columns that are read beside the source, with commas between: texts, symbols or numbers, each by an encoder of its own"""
    known: Words
    """columns that are known in advance, with commas between"""
    unit: str
    """what counts as a symbol"""

class AnyPredictor(Predictor):
    def evaluate(self, given: Any = ..., /, **options: Unpack[AnyEvaluate]) -> Result: ...
    def score(self, given: Source = ..., /, **options: Unpack[AnyScore]) -> Result: ...
    def predict(self, given: Source = ..., /, **options: Unpack[AnyPredict]) -> Result: ...
    def generate(self, given: Any = ..., /, **options: Unpack[AnyGenerate]) -> Result: ...
    def ngrams(self, given: Any = ..., /, **options: Unpack[AnyNgrams]) -> Result: ...
    def surprisal(self, given: Source = ..., /, **options: Unpack[AnySurprisal]) -> Result: ...
    def embed(self, given: Source = ..., /, **options: Unpack[AnyEmbed]) -> Result: ...
    def attention(self, given: Any = ..., /, **options: Unpack[AnyAttention]) -> Result: ...
    def positions(self, **options: Unpack[AnyPositions]) -> Result: ...
    def gates(self, given: Any = ..., /, **options: Unpack[AnyGates]) -> Result: ...
    def units(self, given: Any = ..., /, **options: Unpack[AnyUnits]) -> Result: ...
    def gradient(self, given: Source = ..., /, **options: Unpack[AnyGradient]) -> Result: ...
    def influence(self, given: Source = ..., /, **options: Unpack[AnyInfluence]) -> Result: ...
    def compress(self, given: Any = ..., /, **options: Unpack[AnyCompress]) -> Result: ...
    def restore(self, given: Any = ..., /, **options: Unpack[AnyRestore]) -> Result: ...
    def export(self, **options: Unpack[AnyExport]) -> Result: ...
    def explain(self, given: Any = ..., /, **options: Unpack[AnyExplain]) -> Result: ...
    def graph(self, given: Source = ..., /, **options: Unpack[AnyGraph]) -> Result: ...
    def best(self, given: Source = ..., /, **options: Unpack[AnyBest]) -> Result: ...
    def annotate(self, given: Any = ..., /, **options: Unpack[AnyAnnotate]) -> Result: ...
    def complete(self, given: Source = ..., /, **options: Unpack[AnyComplete]) -> Result: ...
    def alignment(self, given: Any = ..., /, **options: Unpack[AnyAlignment]) -> Result: ...
    def tree(self, given: Any = ..., /, **options: Unpack[AnyTree]) -> Result: ...
    def backtest(self, given: Source = ..., /, **options: Unpack[AnyBacktest]) -> Result: ...
    def reconstruct(self, given: Source = ..., /, **options: Unpack[AnyReconstruct]) -> Result: ...
    def neighbours(self, given: Any = ..., /, **options: Unpack[AnyNeighbours]) -> Result: ...
    def interpolate(self, given: Source = ..., /, **options: Unpack[AnyInterpolate]) -> Result: ...
    def analogy(self, given: Any = ..., /, **options: Unpack[AnyAnalogy]) -> Result: ...
    def direction(self, given: Any = ..., /, **options: Unpack[AnyDirection]) -> Result: ...
    def odd(self, given: Any = ..., /, **options: Unpack[AnyOdd]) -> Result: ...
    def missing(self, given: Any = ..., /, **options: Unpack[AnyMissing]) -> Result: ...
    def analogies(self, given: Any = ..., /, **options: Unpack[AnyAnalogies]) -> Result: ...
    def map(self, given: Any = ..., /, **options: Unpack[AnyMap]) -> Result: ...
    affordable: Any
    ahead: Any
    always: Any
    answer: Any
    answerable: Any
    answers: Any
    as_music: Any
    as_one: Any
    asked_labels: Any
    beginning: Any
    beside_counting: Any
    beside_the_floor: Any
    by_distance: Any
    calibrate: Any
    channels: Any
    check_outputs: Any
    commonest: Any
    condition_labels: Any
    counted: Any
    curve: Any
    cut: Any
    decoding: Any
    drafting: Any
    draw: Any
    estimates: Any
    export_arpa: Any
    extended: Any
    figures: Any
    filled: Any
    fitted_on: Any
    from_few_errors: Any
    generation: Any
    going_on: Any
    greedy: Any
    horizon: Any
    in_row: Any
    item: Any
    knowing: Any
    label_number: Any
    latent: Any
    likeliest: Any
    longer: Any
    mean_vectors: Any
    mostly_unknown: Any
    naive_in_words: Any
    named: Any
    needs_vectors: Any
    never_seen: Any
    of_text: Any
    offsets: Any
    one: Any
    only: Any
    other_scales: Any
    outputs: Any
    past: Any
    past_time: Any
    plain: Any
    posterior: Any
    predicted: Any
    predictions: Any
    prior: Any
    probabilities: Any
    protocol: Any
    ranking: Any
    reads: Any
    refitted: Any
    remark: Any
    reported: Any
    results: Any
    room: Any
    said: Any
    samples: Any
    scale_in_words: Any
    scaled: Any
    searching: Any
    short: Any
    shown: Any
    sources: Any
    spans: Any
    stream: Any
    tags: Any
    temperature: Any
    text: Any
    told_beside: Any
    told_of: Any
    truth: Any
    tune_search: Any
    unbalanced: Any
    unknown_in: Any
    vector: Any
    vector_of: Any
    walk: Any
    walked: Any
    without_mase: Any
    words: Any
    write: Any
    written: Any
    written_down: Any

@overload
def fit(task: Literal['language'], model: str, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[LanguageFit]) -> FittedLanguage:
    """Fit a model by name: what comes next?"""

@overload
def fit(task: Literal['language'], model: type[Model] | Rung, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> FittedLanguage:
    """Fit a class of your own: its options are settings, too."""

@overload
def fit(task: Literal['classify'], model: str, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[ClassifyFit]) -> FittedClassify:
    """Fit a model by name: what label has each sequence?"""

@overload
def fit(task: Literal['classify'], model: type[Model] | Rung, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> FittedClassify:
    """Fit a class of your own: its options are settings, too."""

@overload
def fit(task: Literal['regress'], model: str, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[RegressFit]) -> FittedRegress:
    """Fit a model by name: what value has each sequence?"""

@overload
def fit(task: Literal['regress'], model: type[Model] | Rung, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> FittedRegress:
    """Fit a class of your own: its options are settings, too."""

@overload
def fit(task: Literal['tag'], model: str, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[TagFit]) -> FittedTag:
    """Fit a model by name: what tag has each element?"""

@overload
def fit(task: Literal['tag'], model: type[Model] | Rung, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> FittedTag:
    """Fit a class of your own: its options are settings, too."""

@overload
def fit(task: Literal['sets'], model: str, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[SetsFit]) -> FittedSets:
    """Fit a model by name: which elements are in the next set?"""

@overload
def fit(task: Literal['sets'], model: type[Model] | Rung, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> FittedSets:
    """Fit a class of your own: its options are settings, too."""

@overload
def fit(task: Literal['marks'], model: str, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[MarksFit]) -> FittedMarks:
    """Fit a model by name: which of several things are true of each sequence?"""

@overload
def fit(task: Literal['marks'], model: type[Model] | Rung, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> FittedMarks:
    """Fit a class of your own: its options are settings, too."""

@overload
def fit(task: Literal['translate'], model: str, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[TranslateFit]) -> FittedTranslate:
    """Fit a model by name: what is this in the other language?"""

@overload
def fit(task: Literal['translate'], model: type[Model] | Rung, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> FittedTranslate:
    """Fit a class of your own: its options are settings, too."""

@overload
def fit(task: Literal['forecast'], model: str, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[ForecastFit]) -> FittedForecast:
    """Fit a model by name: what happens over the next steps?"""

@overload
def fit(task: Literal['forecast'], model: type[Model] | Rung, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> FittedForecast:
    """Fit a class of your own: its options are settings, too."""

@overload
def fit(task: Literal['autoencode'], model: str, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[AutoencodeFit]) -> FittedAutoencode:
    """Fit a model by name: what lies between these two?"""

@overload
def fit(task: Literal['autoencode'], model: type[Model] | Rung, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> FittedAutoencode:
    """Fit a class of your own: its options are settings, too."""

@overload
def fit(task: Literal['words'], model: str, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[WordsFit]) -> FittedWords:
    """Fit a model by name: which words are alike?"""

@overload
def fit(task: Literal['words'], model: type[Model] | Rung, train: Source, valid: Source | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> FittedWords:
    """Fit a class of your own: its options are settings, too."""

@overload
def compare(task: Literal['language'], data: Source, models: str | Sequence[str] | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[LanguageCompare]) -> Result: ...

@overload
def compare(task: Literal['language'], data: Source, models: Sequence[str | type[Model] | Rung], *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> Result: ...

@overload
def compare(task: Literal['classify'], data: Source, models: str | Sequence[str] | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[ClassifyCompare]) -> Result: ...

@overload
def compare(task: Literal['classify'], data: Source, models: Sequence[str | type[Model] | Rung], *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> Result: ...

@overload
def compare(task: Literal['regress'], data: Source, models: str | Sequence[str] | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[RegressCompare]) -> Result: ...

@overload
def compare(task: Literal['regress'], data: Source, models: Sequence[str | type[Model] | Rung], *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> Result: ...

@overload
def compare(task: Literal['tag'], data: Source, models: str | Sequence[str] | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[TagCompare]) -> Result: ...

@overload
def compare(task: Literal['tag'], data: Source, models: Sequence[str | type[Model] | Rung], *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> Result: ...

@overload
def compare(task: Literal['sets'], data: Source, models: str | Sequence[str] | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[SetsCompare]) -> Result: ...

@overload
def compare(task: Literal['sets'], data: Source, models: Sequence[str | type[Model] | Rung], *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> Result: ...

@overload
def compare(task: Literal['marks'], data: Source, models: str | Sequence[str] | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[MarksCompare]) -> Result: ...

@overload
def compare(task: Literal['marks'], data: Source, models: Sequence[str | type[Model] | Rung], *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> Result: ...

@overload
def compare(task: Literal['translate'], data: Source, models: str | Sequence[str] | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[TranslateCompare]) -> Result: ...

@overload
def compare(task: Literal['translate'], data: Source, models: Sequence[str | type[Model] | Rung], *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> Result: ...

@overload
def compare(task: Literal['forecast'], data: Source, models: str | Sequence[str] | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[ForecastCompare]) -> Result: ...

@overload
def compare(task: Literal['forecast'], data: Source, models: Sequence[str | type[Model] | Rung], *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> Result: ...

@overload
def compare(task: Literal['autoencode'], data: Source, models: str | Sequence[str] | None = ..., *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Unpack[AutoencodeCompare]) -> Result: ...

@overload
def compare(task: Literal['autoencode'], data: Source, models: Sequence[str | type[Model] | Rung], *, out: str | Path | None = ..., progress: bool | None = ..., on_event: Callable[[dict[str, Any]], object] | None = ..., **settings: Any) -> Result: ...

def evaluate(run: Predictor | str | Path | Sequence[Predictor | str | Path], data: Source, **options: Unpack[EvaluateOptions]) -> Result: ...

def score(run: Predictor | str | Path | Sequence[Predictor | str | Path], data: Source, **options: Unpack[ScoreOptions]) -> Result: ...

def predict(run: Predictor | str | Path | Sequence[Predictor | str | Path], data: Source, **options: Unpack[PredictOptions]) -> Result: ...

def generate(run: Predictor | str | Path | Sequence[Predictor | str | Path], prompt: str | None = ..., **options: Unpack[GenerateOptions]) -> Result: ...
def check(*data: Source, **options: Unpack[Check]) -> Result: ...
def conform(model: Model | type[Model] | Rung | Predictor, data: Source | None = ...) -> Result: ...
def load(
    folder: str | Path,
    verify: bool = ...,
    int8: bool = ...,
    device: str = ...,
    mute: str = ...,
) -> AnyPredictor: ...
def split(task: Literal['language', 'classify', 'regress', 'tag', 'sets', 'marks', 'translate', 'forecast', 'autoencode', 'words'], data: Source, **settings: Unpack[Reading]) -> tuple[Sequences, Sequences | None, Sequences]: ...
def plot(run: Predictor | str | Path | Sequence[Predictor | str | Path], data: Source | None = ..., *, what: str = ..., out: str | Path | None = ..., **options: Unpack[PlotOptions]) -> Chart: ...
