"""What `seriatim` says when nothing is asked: the verbs of every room, from their cards."""

from __future__ import annotations

from textwrap import wrap

from seriatim.tasks import tasks

COMMON = ("evaluate", "predict", "generate", "score")  # told in the list above
WIDE = 118

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
  seriatim models   [MODEL]                  all models, or all settings of one

TASK is one of these; some have more verbs:

"""

TAIL = """
FILE is text, csv, tsv, jsonl, parquet, CoNLL-U, MIDI, drawings, plain, .gz or .xz; - for standard input; or a built-in
corpus: python-docs, python-code, python-lines, python-tokens, independent, markov, hidden-markov, brackets, remember,
piano, reverse, copy, sort, dates, roman, sentences, tunes, drawings.

`seriatim fit TASK MODEL --help` shows what that task and model have, `seriatim VERB RUN --help` what that run has.
"""


def overview() -> str:
    """The verbs, the tasks with their questions, and what else each can do."""
    lines = []
    for room in tasks():
        lines.append(f"  {room.name:<12} {room.question}")
        more = ", ".join(name for name in room.verbs if name not in COMMON)
        lines += [f"{'':15}{line}" for line in wrap(more, WIDE - 15)]
    return HEAD + "\n".join(lines) + "\n" + TAIL
