"""What run files and ledgers say of an experiment: keys that came later change nothing."""

from __future__ import annotations

from itertools import islice

import pytest

from core.settings import Section
from core.studies.study import load_study, shipped_ids
from core.study_file.experiment import Experiment
from core.sweep.plan import digest_of

# Of the first cell of each study of version 1.0.0, as that version computed it: by these the rows
# of its ledgers are known, and runs of its folders are not trained again.
DIGESTS = {
    "batchnorm-dyadic": "bc14f6faa80e714b8fc2ed347d4db8b4",
    "batchnorm-figure-1": "e71b874a67812e07a5f2cfb2091f26cf",
    "batchnorm-theorem-2-1": "17baf92e1864afdd768e56fe7a38dd16",
    "batchnorm-theorem-2-2": "06245c7cdf35293bac1f533d04ccf062",
    "frei23-figure-1": "4a6eac8fcac9e51eb05b4285c6ebee42",
    "frei23-figure-2": "aeb8ba4b71956fdfc2f4cea551656513",
    "frei23-figure-3": "6801d1535b42557700f6474cb2bca8ff",
    "frei23-figure-4": "f15ef07a1e211be9f804279824639421",
    "frei23-figure-5": "5b1f2629dd903d331ad888089a596cae",
    "frei23-theorem-3-2": "94924afd6da66d476addef79117ecd39",
    "frei23-xor": "caba39d469891ff53a8d61ef8709996b",
    "homogeneity-example-4-1": "171b2af906f7d6892af1b22b3e450e93",
    "homogeneity-mirror-flow": "a8bfa388c3426e8e280f0d9acb38152e",
    "homogeneity-odd-parity": "87585b7e7471988d2f4c60ccfe872f2a",
    "homogeneity-theorem-3-6": "e248f4dd1a266ae219bbf8515aabc35b",
    "homogeneity-theorem-4-1": "afed09f8f179c9b4a4892b35a0408435",
    "telgarsky22-figure-1": "f909a69016b2bef54437eed424622c3b",
    "telgarsky22-figure-1-statistics": "0b73786812a0ed8f538243ca747b5486",
    "telgarsky22-figure-2": "40cad09610ab2deea2bfbbd965f1188d",
    "telgarsky22-table-1": "2b3ed8c9142c3e71dad6fbc5b4a40a34",
    "telgarsky22-table-1-scalar": "18e562f13bfe24cda7775c6f73166ce5",
    "telgarsky22-theorem-2-1": "6c7c2e5254006149f06d58026414db98",
    "telgarsky22-theorem-2-2": "929501266ad8b52493933a1a987d5d2d",
    "telgarsky22-theorem-3-2": "7854b289954930511f0aa4594a21e910",
    "telgarsky22-theorem-3-3": "a65220a0faeb2542fa2c2292ec42291e",
    "wei19-figure-1": "a232f0e2d2d37d38fdf159ed74d10a99",
    "wei19-figure-2": "327f9eeca9c2cc92afe53804d7ffa51b",
    "wei19-figure-3-left": "2ec43e386e57ab1a68a72036d149aa09",
    "wei19-figure-3-right": "588281d12df259db8623ca9b6d549026",
    "wei19-figure-4": "1d0530978e4cc17672d923079ff5e613",
    "wei19-figure-5": "e0cc0cf574c483dd07ecd277277139cc",
    "wei19-perturbed-flow": "43e96fd84e3b5518ad334efb6ff62f07",
    "wei19-theorem-2-1": "ea69f0cb95004d99843238b1733a1254",
}


def test_experiments_of_the_first_version_are_known_still(subtests: pytest.Subtests) -> None:
    assert DIGESTS
    for study_id, digest in DIGESTS.items():
        with subtests.test(study=study_id):
            assert digest_of(next(load_study(study_id).iter_cells()).experiment) == digest


def test_what_is_written_is_the_experiment(subtests: pytest.Subtests) -> None:
    names = shipped_ids()
    assert names
    for name in names:
        with subtests.test(study=name):
            cells = list(islice(load_study(name).iter_cells(), 5))
            assert cells
            for cell in cells:
                written = cell.experiment.to_file_values()
                assert Experiment.model_validate(written) == cell.experiment


def test_an_added_key_is_written_where_it_is_not_its_default() -> None:
    usual = load_study("telgarsky22-figure-1").cells()[0].experiment
    assert (
        "slope" not in usual.to_file_values()["network"]
        and "slope" in usual.model_dump()["network"]
    )
    leaky = usual.model_copy(update={"network": usual.network.model_copy(update={"slope": 0.3})})
    assert leaky.to_file_values()["network"]["slope"] == 0.3
    assert digest_of(leaky) != digest_of(usual)


def test_added_keys_have_defaults() -> None:
    def below(section: type[Section]) -> list[type[Section]]:
        return [one for sub in section.__subclasses__() for one in (sub, *below(sub))]

    added = [
        field
        for section in below(Section)
        for field in section.model_fields.values()
        if isinstance(field.json_schema_extra, dict) and field.json_schema_extra.get("added")
    ]
    assert added and not any(field.is_required() for field in added)
