"""Columns of tables, in the form that tests of observables need."""

from __future__ import annotations

from core.observables.observable import Shape
from core.observables.registry import shown_of, usual_of
from core.observables.table import Columns, columns_of
from core.runs import Run


def scalar_columns(run: Run) -> Columns:
    """Return frame, step, log10_time and every usual scalar under its name, each (T,)."""
    return columns_of(run, usual_of(run))


def node_columns(run: Run) -> Columns:
    """Return the observables of the nodes, in node order, each (T, m)."""
    return {item.name: item.trace(run) for item in shown_of(run, Shape.NODE)}
