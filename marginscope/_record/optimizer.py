"""Settings of a loop's optimizer, and the dynamics that they are.

A PyTorch optimizer is read by its class name and `param_groups`, so that nothing is imported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard, final

from core.errors import InputError
from core.numbers import whole_text
from core.run_files.meta import dump_json
from core.run_files.schema import MAX_NAME, OPTIMIZER_KEY

DYNAMICS = ("gd", "sgd", "adam", "flow")
STEPPED = ("gd", "sgd", "adam")
DESCENTS = ("gd", "sgd")
MOST_KEYS, MOST_VALUES, LONGEST, MOST_TEXT = 64, 64, 100, 20_000
# Options of PyTorch that affect how a step is computed, not its result.
IGNORED_SETTINGS = {"params", "param_names", "foreach", "capturable", "differentiable", "fused"}
# Settings that `gd` or `adam` allow; any other one, if set, changes the rule.
OF_SGD = ("kind", "lr", "dampening")
OF_ADAM = ("kind", "lr", "betas", "eps")
ADAMS = ("adam", "adamw")
UNSET = ("", "none", "constant")
MOST_LR = 1e-6  # relative difference of equal step sizes, one of them in float32
Settings = dict[str, Any]


@final
@dataclass(frozen=True, slots=True)
class Optimizer:
    """Settings of an optimizer, and the dynamics that they are.

    `settings` has its `kind` too. `dynamics` is "gd" (or "sgd"), "adam" with its `section`, or
    "recorded" for any other, with the reason `why`.
    """

    settings: Settings
    dynamics: str
    section: Settings = field(default_factory=dict)
    why: str = ""

    @property
    def lr(self) -> float | None:
        """Step size of all parameters; None if it is unknown, or differs among them."""
        lr = self.settings.get("lr")
        return float(lr) if _is_number(lr) else None

    def check(self, dynamics: str, eta: float | None) -> None:
        """Raise InputError if given options contradict the optimizer."""
        kind = self.settings["kind"]
        allowed = DESCENTS if self.dynamics in DESCENTS else (self.dynamics,)
        if dynamics in DYNAMICS and dynamics not in allowed:
            reason = f", {self.why}" if self.why else ""
            raise InputError(
                f'dynamics = "{dynamics}" contradicts optimizer = {kind}{reason}; omit dynamics.'
            )
        lr = self.settings.get("lr")
        if eta is None or lr is None:
            return
        if self.lr is None or abs(self.lr - eta) > MOST_LR * abs(eta):
            raise InputError(
                f"eta = {eta:g} contradicts the optimizer, whose lr is {_words(lr)}; leave eta out."
            )


def read_optimizer(optimizer: Any) -> Optimizer:
    """Return what an optimizer of PyTorch, or a dictionary with its `kind`, says.

    Parameters
    ----------
    optimizer : torch.optim.Optimizer or mapping
        A mapping has a text `kind` ("SGD", "Adam", ...) and numbers, truths, texts, or short lists
        of them. Settings in which the parameter groups of an optimizer differ are lists, a value
        for each group.

    Raises
    ------
    InputError
        For anything else.
    """
    groups = getattr(optimizer, "param_groups", None)
    if isinstance(optimizer, Mapping):
        settings = dict(optimizer)
        if not isinstance(settings.get("kind"), str):
            raise InputError('optimizer has no kind; give one, such as {"kind": "SGD", "lr": 0.1}.')
    elif _are_groups(groups):
        settings = {"kind": type(optimizer).__name__} | _join_groups(groups)
    else:
        raise InputError(
            f"optimizer = {optimizer!r:.60} is neither an optimizer of PyTorch nor a dictionary; "
            'give one of them, such as {"kind": "SGD", "lr": 0.1, "momentum": 0.9}.'
        )
    settings = {name: _plain(name, value) for name, value in _select_settings(settings).items()}
    if len(dump_json(settings)) > MOST_TEXT:
        raise InputError(
            f"optimizer: its settings are longer than {whole_text(MOST_TEXT)} characters."
        )
    return _optimizer_of(settings)


def steps_of(
    source: Any, dynamics: str | None, eta: float | None, batch: int | None, n: int
) -> Settings:
    """Return the options `dynamics`, `eta` and `optimizer` of a recording.

    Parameters
    ----------
    source : optimizer of PyTorch, mapping or None
        As for `marginscope.record`.
    dynamics : str or None
        Dynamics that the user named.
    eta : float or None
        Step size that the user named.
    batch : int or None
        Examples in a batch.
    n : int
        Number of examples.

    Returns
    -------
    dict
        "dynamics" (str), "eta" (float or None) and "optimizer" (Optimizer or None).

    Raises
    ------
    InputError
        What the user named contradicts the optimizer.
    """
    eta = None if eta is None else float(eta)
    settings: Settings = {"dynamics": dynamics or "", "eta": eta, "optimizer": None}
    if source is None:
        return settings
    optimizer = read_optimizer(source)
    optimizer.check(settings["dynamics"], eta)
    if not dynamics and optimizer.dynamics != "recorded":
        plain = "gd" if batch is None or batch == n else "sgd"
        settings["dynamics"] = plain if optimizer.dynamics == "gd" else optimizer.dynamics
    if settings["dynamics"] and eta is None:
        settings["eta"] = optimizer.lr
    return settings | {"optimizer": optimizer}


def learning_rates(rates: Any) -> tuple[float, ...]:
    """Return the learning rates that an optimizer of PyTorch has now; () for anything else."""
    groups = getattr(rates, "param_groups", None)
    if not _are_groups(groups):
        return ()
    return tuple(float(group["lr"]) for group in groups if "lr" in group)


def _are_groups(groups: Any) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    """Return True for the parameter groups of an optimizer."""
    return (
        isinstance(groups, Sequence)
        and len(groups) > 0
        and all(isinstance(group, Mapping) for group in groups)
    )


def _join_groups(groups: Sequence[Mapping[str, Any]]) -> Settings:
    """Join the settings of all groups; those that differ are lists."""
    names = dict.fromkeys(
        name for group in groups for name in group if name not in IGNORED_SETTINGS
    )
    settings: Settings = {}
    for name in names:
        values = [_plain(name, group.get(name)) for group in groups]
        settings[name] = values[0] if all(one == values[0] for one in values) else values
    return settings


def _select_settings(settings: Mapping[Any, Any]) -> Settings:
    """Return the settings with a value. Raises InputError for those that a file cannot hold."""
    chosen = {name: value for name, value in settings.items() if value is not None}
    if len(chosen) > MOST_KEYS:
        raise InputError(f"optimizer has {len(chosen)} settings; at most {MOST_KEYS} are kept.")
    for name in chosen:
        if not isinstance(name, str) or not OPTIMIZER_KEY.fullmatch(name):
            raise InputError(
                f"optimizer has a setting {name!r:.60}; names are letters, digits and _, at most "
                f"{MAX_NAME} characters."
            )
    return chosen


def _plain(name: str, value: Any, depth: int = 2) -> Any:
    """Convert a setting to JSON types.

    Raises InputError for anything but a number, a truth, a text or a list of these.
    """
    if hasattr(value, "item") and math.prod(getattr(value, "shape", ())) == 1:
        value = value.item()  # of NumPy, or a tensor
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) <= LONGEST:
        return value
    if isinstance(value, int | float) and abs(value) < 2.0**63:
        return value
    if isinstance(value, list | tuple) and len(value) <= MOST_VALUES and depth:
        return [_plain(name, one, depth - 1) for one in value]
    raise InputError(
        f"optimizer: {name} = {value!r:.60} cannot be stored; allowed are finite numbers, true "
        f"and false, texts of at most {LONGEST} characters and lists of at most {MOST_VALUES} "
        "values."
    )


def _optimizer_of(settings: Settings) -> Optimizer:
    """Return the optimizer of some settings, with the dynamics that they are."""
    kind, lr = settings["kind"].lower(), settings.get("lr")
    several = next((name for name, one in settings.items() if _differs(name, one)), None)
    if several is not None:
        return Optimizer(settings, "recorded", why=f"whose groups differ in {several}")
    if not (_is_number(lr) and lr > 0):
        return Optimizer(settings, "recorded", why=f"whose lr is {_words(lr)}")
    if kind in DESCENTS:
        reason = _changing(settings, OF_SGD)
        return Optimizer(settings, "recorded" if reason else "gd", why=reason)
    if kind in ADAMS:
        return _adam(settings, kind)
    return Optimizer(settings, "recorded", why="whose steps are its own")


def _adam(settings: Settings, kind: str) -> Optimizer:
    """Return Adam, or AdamW by either name; PyTorch's Adam has an L2 penalty in its gradient."""
    decoupled = kind == "adamw" or settings.get("decoupled_weight_decay") is True
    further = ("weight_decay", "decoupled_weight_decay") if decoupled else ()
    reason = _changing(settings, (*OF_ADAM, *further))
    betas = settings.get("betas")
    section = {
        "beta1": betas[0] if isinstance(betas, list) else betas,
        "beta2": betas[1] if isinstance(betas, list) else betas,
        "eps": settings.get("eps"),
        "weight_decay": settings.get("weight_decay"),
    }
    section = {name: value for name, value in section.items() if value is not None}
    if not reason and not all(_is_allowed(name, value) for name, value in section.items()):
        reason = "whose betas, eps or weight_decay are not those of Adam"
    return (
        Optimizer(settings, "recorded", why=reason)
        if reason
        else Optimizer(settings, "adam", section)
    )


def _is_allowed(name: str, value: Any) -> bool:
    """Return True if the section of Adam (core.study_file.descent) has room for a value."""
    if not _is_number(value):
        return False
    if name == "eps":
        return bool(0.0 < value <= 1.0)
    return bool(value >= 0.0 if name == "weight_decay" else 0.0 <= value < 1.0)


def _changing(settings: Settings, plain: Sequence[str]) -> str:
    """Return in words which setting makes a rule another one; "" if none does."""
    set_ = (name for name, value in settings.items() if value and value not in UNSET)
    name = next((one for one in set_ if one not in plain), None)
    if name is None:
        return ""
    if name == "initial_lr":
        return "whose lr a scheduler changes"
    return f"which has {name} = {_words(settings[name])}"


def _differs(name: str, value: Any) -> bool:
    """Return True for a list with a value for each group; betas are two numbers."""
    if not isinstance(value, list):
        return False
    return not (name == "betas" and len(value) == 2 and all(map(_is_number, value)))


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _words(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_words, value))[:LONGEST]
    if value is None:
        return "not given"
    return f"{value:g}" if _is_number(value) else str(value)
