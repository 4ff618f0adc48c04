"""Stories of studies, each as one page that steps through its moments."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from core.stories.shipped_stories import story_of_study
from core.stories.story_file import story_text
from core.studies.study import load_study
from docs.site.places import RESULTS, ROOT
from docs.site.results import StudyError, code_digest

FOLDER = "stories"  # of the site
FRAMES = ("--frames", "60")  # between the moments, which are among them; half a megabyte a page


def story_page(name: str, kept: Path = RESULTS) -> Path:
    """Return the page of a study's story, from an earlier build if nothing has changed.

    Raises StudyError if the story cannot be made.
    """
    own = f"{' '.join(FRAMES)}\n{story_text(story_of_study(name))}\n{load_study(name).to_toml()}"
    key = hashlib.sha256(own.encode() + code_digest()).hexdigest()[:16]
    path = kept / f"{name}-story" / f"{key}.html"
    if not path.is_file():
        shutil.rmtree(path.parent, ignore_errors=True)
        path.parent.mkdir(parents=True)
        line = [sys.executable, "-m", "core", "story", name, "--out", str(path), *FRAMES, "--quiet"]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
        if done.returncode != 0:
            raise StudyError(f"core story {name}: {done.stderr.strip()[-500:]}")
    return path
