"""What `seriatim` says when nothing is asked."""

OVERVIEW = """\
seriatim: sequence models from counting to attention, on your own data.

  seriatim check    FILE [FILE ...]          what is wrong with this data? copies, leaks, contradictions, broken lines
  seriatim compare  TASK FILE                which model does this data deserve? a leaderboard
  seriatim fit      TASK MODEL FILE          fit one model, keep it in a run folder
  seriatim evaluate RUN FILE                 how well does it do on other data?
  seriatim predict  RUN FILE                 what comes next? what label or tags has it? how is it translated?
  seriatim generate RUN PROMPT               let it write
  seriatim score    RUN FILE                 the log-probability of each sequence
  seriatim plot     RUN                      its learning curve, or a comparison's picture; --what shows more
  seriatim models   [MODEL]                  all models, or all settings of one

Some tasks have more verbs:

  language     ngrams, frequencies, surprisal, attention, gradient, influence, compress, restore, export
  classify     explain                       why this label?
  tag          best, annotate                the best rows of tags; a file with tags
  translate    alignment, tree               what was attended to; the beam
  forecast     backtest                      forecasts from every origin
  words        neighbours, analogy, analogies, direction, odd, missing, map, export
  autoencode   embed, reconstruct, neighbours, interpolate, analogy, complete

TASK is language (what comes next?), classify (a label for each sequence, of symbols or of numbers), regress (a value
for each sequence), tag (a tag for each element), sets (which elements are in the next set?), translate (a target for
each source; two FILEs whose lines belong together, or a table), forecast (the next numbers of series), autoencode (a
vector for each sequence, and sequences from vectors, labels or nothing) or words (a vector for each word). FILE is
text, csv, tsv, jsonl, parquet, CoNLL-U, MIDI, drawings, plain, .gz or .xz; - for standard input; or a built-in corpus:
python-docs, python-code, python-lines, python-tokens, independent, markov, hidden-markov, brackets, remember, piano,
reverse, copy, sort, dates, roman, sentences, tunes, drawings.

`seriatim fit TASK MODEL --help` shows what that task and model have, `seriatim VERB RUN --help` what that run has.
"""
