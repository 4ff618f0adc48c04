"""The networks: a section for each parametrisation."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import model_validator

from core.settings import SEED_MEANING, Section, setting


class StandardNetwork(Section):
    title: ClassVar[str] = "two-layer ReLU network f(x) = sum_j a_j relu(<v_j, x>), both trained"
    source: ClassVar[str] = "telgarsky22, section 1.2; wei19, section 2"

    kind: Literal["standard"] = "standard"
    m: int | None = setting(None, meaning="width: number of nodes", ge=1, le=1_000_000)
    init: Literal["paper", "file"] = setting(
        "paper", meaning="paper: a ~ N(0, 1/m), V ~ N(0, I/d); file: from init_path"
    )
    init_path: str | None = setting(
        None, meaning="NPZ with the arrays a (m,) and V (m, d), relative to the study file"
    )
    content: str | None = setting(
        None, meaning="SHA-256 of the embedded parameters; set by the program", advanced=True
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=2**63 - 1)

    @model_validator(mode="after")
    def _width_or_file(self) -> StandardNetwork:
        if self.init == "paper" and self.m is None:
            raise ValueError("m, the width, is missing; give a whole number such as m = 256")
        if self.init == "paper" and self.init_path is not None:
            raise ValueError('init_path is only used with init = "file"; set init or drop the path')
        return self
