"""`python -m docs.site`, or `make docs`: the web site of the documents, into resources/site."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from core.stories.shipped_stories import shipped_stories
from core.studies.study import shipped_ids
from docs.site import sources
from docs.site.films import EXTRA, figure_1
from docs.site.places import BUILD, OWN, ROOT, SITE, SOURCES
from docs.site.results import StudyError, result_of
from docs.site.slimming import slim_pages
from docs.site.stories import story_page

MOST_BYTES = 13_500_000
LEFT = (".buildinfo", "objects.inv", "_static/**/*.map")  # for Sphinx, and for who mends themes


def arguments() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m docs.site", description=__doc__)
    parser.add_argument("--out", type=Path, default=SITE, help="(default: resources/site)")
    parser.add_argument("--text", action="store_true", help="only text: run no study, no film")
    parser.add_argument("--only", default="", help="only these studies, as a,b,c, and no film")
    parser.add_argument("--jobs", type=int, default=2, help="processes of a study (default: 2)")
    return parser.parse_args()


def main() -> int:
    """Run the quick studies, write the sources, and have Sphinx build them."""
    options = arguments()
    names = [name for name in options.only.split(",") if name] or list(shipped_ids())
    results, stories, films = {}, {}, None
    try:
        for number, name in enumerate([] if options.text else names, start=1):
            print(f"{number} of {len(names)}: {name}", flush=True)
            results[name] = result_of(name, options.jobs)
            if name in shipped_stories():
                stories[name] = story_page(name)
        if not options.text and not options.only:
            print("Figure 1 as a film and as a page", flush=True)
            films = figure_1()
    except StudyError as error:
        print(error, file=sys.stderr)
        return 1
    work = SOURCES if options.out == SITE else options.out.with_name(f"{options.out.name}-source")
    sources.write(work, results, films, stories)
    return built(work, options.out)


def built(work: Path, target: Path) -> int:
    """Have Sphinx make pages of sources; the site of before stays where it cannot."""
    fresh = BUILD / "site-html" if target == SITE else target.with_name(f"{target.name}-html")
    shutil.rmtree(fresh, ignore_errors=True)
    words = ["-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going", "-E", "-c", str(OWN)]
    words += ["-d", f"{fresh}-doctrees", "-D", f"html_extra_path={work / EXTRA}"]
    done = subprocess.run([sys.executable, *words, str(work), str(fresh)], cwd=ROOT)
    if done.returncode != 0:
        return done.returncode
    for pattern in LEFT:
        for path in fresh.glob(pattern):
            path.unlink()
    slim_pages(fresh)
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(fresh, target)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    print(f"{target / 'index.html'}: {size / 1e6:.1f} MB in all")
    if size > MOST_BYTES:  # every wheel and every bundle carries it
        print(f"That is more than {MOST_BYTES / 1e6:g} MB: make pictures smaller.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
