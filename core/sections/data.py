"""Where examples come from: a section for each kind of data."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import model_validator

from core.settings import SEED_MEANING, Section, setting


class ParityData(Section):
    title: ClassVar[str] = "k-sparse parity: x uniform on {+-1/sqrt(d)}^d, y = d^(k/2) x_1...x_k"
    source: ClassVar[str] = "telgarsky22, section 1.3 and Figure 1"

    kind: Literal["parity"] = "parity"
    d: int = setting(20, meaning="dimension of the inputs", ge=1, le=1_000_000)
    n: int = setting(64, meaning="number of training examples", ge=1, le=1_000_000)
    k: int = setting(2, meaning="number of coordinates whose parity is the label", ge=1)
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=2**63 - 1)

    @model_validator(mode="after")
    def _k_fits_d(self) -> ParityData:
        if self.k > self.d:
            raise ValueError(f"k = {self.k} is larger than d = {self.d}; k may be 1 to d")
        return self


class FileData(Section):
    title: ClassVar[str] = "data from a file: NPZ (x, y, optional x_test, y_test) or CSV (label y)"
    source: ClassVar[str] = "the user's own"
    embedded: ClassVar[bool] = True

    kind: Literal["file"] = "file"
    path: str | None = setting(None, meaning="NPZ or CSV file, relative to the study file")
    d: int | None = setting(None, meaning="dimension of the inputs, if it should be checked", ge=1)
    n: int | None = setting(None, meaning="number of examples, if it should be checked", ge=1)
    content: str | None = setting(
        None, meaning="SHA-256 of the embedded data; set by the program", advanced=True
    )
    seed: int | None = setting(None, meaning=SEED_MEANING, ge=0, le=2**63 - 1)
