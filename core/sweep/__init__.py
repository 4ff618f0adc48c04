"""Sweeps: the cells of a study trained on this machine or on a cluster, with their ledger.

`plan` finds the cells to train and keeps the ledger, `loop` hands each `cell` to `pools`, `control`
takes requests; `folder` finds and judges sweeps, `cost` estimates them.
"""
