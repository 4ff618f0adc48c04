"""Names that a package needs to add kinds to Marginscope (docs/extend.md).

The package names its module in the entry points of the group `marginscope.kinds`; a line such as
`NETWORKS.add(...)` in that module registers a kind. Importing this module loads the numerical
libraries, and none of the window.
"""

from core.data.dataset import Distribution, Law
from core.data.registry import DATA
from core.data.section import D_MEANING, MAX_N, N_MEANING, DataSection
from core.dynamics.registry import Engines, register
from core.dynamics.step_size import default_step
from core.dynamics.stepper import Stepper
from core.errors import InputError, RuleError
from core.network.parametrisation import Block, Network, Shape, TwoLayer, join_flat
from core.network.registry import NETWORKS
from core.network.section import NetworkSection
from core.observables.nodes import node_norms
from core.observables.observable import Observable
from core.observables.observable import Shape as ObservableShape
from core.observables.prediction import Prediction
from core.observables.registry import OBSERVABLES, PREDICTIONS
from core.problem.problem import Problem
from core.reference.cancel_token import CancelToken
from core.reference.margin import Bracket, SampleMargin, exact_bracket
from core.reference.registry import REFERENCES
from core.runs import Run
from core.settings import MAX_SEED, SEED_MEANING, setting
from core.study_file.dynamics_section import UNTIL_MEANING, DynamicsSection
from core.theorems import common
from core.theorems.registry import STATEMENTS
from core.theorems.statement import Comparison, Context, Hypothesis, Statement

__all__ = [
    "DATA",
    "D_MEANING",
    "MAX_N",
    "MAX_SEED",
    "NETWORKS",
    "N_MEANING",
    "OBSERVABLES",
    "PREDICTIONS",
    "REFERENCES",
    "SEED_MEANING",
    "STATEMENTS",
    "UNTIL_MEANING",
    "Block",
    "Bracket",
    "CancelToken",
    "Comparison",
    "Context",
    "DataSection",
    "Distribution",
    "DynamicsSection",
    "Engines",
    "Hypothesis",
    "InputError",
    "Law",
    "Network",
    "NetworkSection",
    "Observable",
    "ObservableShape",
    "Prediction",
    "Problem",
    "RuleError",
    "Run",
    "SampleMargin",
    "Shape",
    "Statement",
    "Stepper",
    "TwoLayer",
    "common",
    "default_step",
    "exact_bracket",
    "join_flat",
    "node_norms",
    "register",
    "setting",
]
