"""Figures and films of runs: frozen scenes, drawn by matplotlib; one palette for all.

`scene`, `study_scene` and `comparison` build scenes of `primitives` on pages of `layout`, with the
panels of `material` and `study_panels`; `draw` and `export` write them, `film` and `page` play.
`names` and `options` are what to ask for.
"""

import logging

# Silences the warning if the settings folder is not writable: matplotlib then uses another one.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
