"""What `seriatim` says when nothing is asked. Written down, since reading all cards takes longer
than help should; a test holds it against the cards."""

from __future__ import annotations

HEAD = """\
seriatim: sequence models from counting to attention, on your own data.

  seriatim check    FILE [FILE ...]          what is wrong with this data? copies, leaks, contradictions, broken lines
  seriatim compare  TASK FILE                which model does this data deserve? a leaderboard
  seriatim fit      TASK MODEL FILE          fit one model, keep it in a run folder
  seriatim evaluate RUN FILE                 how well does it do on other data?
  seriatim predict  RUN FILE                 what comes next? what label or tags has it? how is it translated?
  seriatim generate RUN PROMPT               let it write
  seriatim score    RUN FILE                 the log-probability of each sequence
  seriatim plot     RUN                      its learning curve, or a comparison's picture; --what shows more
  seriatim leaderboard FILE RUN [RUN ...]    runs that others made, ranked on a file that they do not have
  seriatim verify   RUN                      is it what was written? every file against its checksum
  seriatim models   [MODEL]                  all models, or all settings of one
  seriatim completion SHELL                  completion for bash, fish or zsh

TASK is one of these; some have more verbs:

"""

ROOMS = """\
  language     what comes next?
               ngrams, frequencies, surprisal, embed, attention, positions, gates, units, gradient, influence,
               impulse, compress, restore, export
  classify     what label has each sequence?
               explain, graph, embed, attention, units
  regress      what value has each sequence?
               graph, attention, units
  tag          what tag has each element?
               best, annotate, embed, attention, units
  sets         which elements are in the next set?
               complete
  marks        which of several things are true of each sequence?
  translate    what is this in the other language?
               alignment, tree, attention
  forecast     what happens over the next steps?
               backtest, lags
  autoencode   what lies between these two?
               embed, reconstruct, neighbours, interpolate, analogy, complete
  words        which words are alike?
               neighbours, analogy, direction, odd, missing, analogies, pairs, map, export
"""

TAIL = """
FILE is text, csv, tsv, jsonl, parquet, CoNLL-U, FASTA, PGN, MIDI, wav, png, drawings, plain, .gz or .xz; - for standard input; or
a built-in corpus: python-docs, python-code, python-lines, python-tokens, independent, markov, hidden-markov, brackets, remember,
piano, reverse, copy, sort, dates, roman, sentences, tunes, drawings.

`seriatim fit TASK MODEL --help` shows what that task and model have, `seriatim VERB RUN --help` what that run has.
"""

OVERVIEW = HEAD + ROOMS + TAIL
