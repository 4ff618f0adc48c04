"""Makes the web site of the documents: pages of `docs`, of every study, and of the registries.

`sources` writes what Sphinx reads: docs/*.md as they are (plain Markdown, which the window shows
too), a page for each study with a figure and verdicts of runs that are made now (`results`, kept by
content), and pages of kinds, observables, margins and statements that only ask registries. `conf`
has furo draw them: it needs no font and no script of another server, and formulas are MathML
(`mathml`), so that nothing is asked of a network, when the site is built and when it is read.
"""
