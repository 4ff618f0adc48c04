"""What a recorded run is as a study, and whether that can be trained here."""

from __future__ import annotations

from core.studies.study import Study
from core.study_file.experiment import KINDS, Experiment

NO_NETWORK = (
    "Another program has trained this network, and it is none of those that are trained here; "
    "choose a network in the experiment panel to train that one."
)
NO_DYNAMICS = (
    "How another program has trained this run is not known; choose the dynamics in the experiment "
    "panel to train the network here."
)
MEND_FIRST = "Mend the values marked in the experiment panel first."
ONE_RUN = "The study in the form has one run; give a setting several values, such as 16, 256."
QUEUED = "{title} is trained next, as soon as what is trained now has ended."
OF_MANY = (
    "The study has {count} runs, of which {some} are trained here; Choose runs ... takes others, "
    "and Whole study ... trains them all."
)
NOTHING_DRAWN = (
    "The data and the start of this run come from a recording and cannot be drawn again; choose "
    "another start of the network in the form first."
)


def why_not_trained(experiment: Experiment) -> str:
    """Why an experiment of another program cannot be trained here; "" where it can."""
    # As a list: what only run files name is found in the mappings, and not listed.
    if experiment.network.kind not in list(KINDS["network"]):
        return NO_NETWORK
    return "" if experiment.dynamics.kind in list(KINDS["dynamics"]) else NO_DYNAMICS


def from_a_file(study: Study) -> bool:
    """Whether data and start are those of a recording, in which nothing was drawn."""
    data, network = study.tables.get("data", {}), study.tables.get("network", {})
    content = data.get("content") and not data.get("path")
    return bool(content) and network.get("init") == "file" and not network.get("init_path")
