// Notes at moments of runs: a list whose entries lead to their moments.

import { made } from "./text.js";

export class NoteList {
  // `names` are those of the runs, where there are several.
  constructor(notes, names, player) {
    this.notes = notes;
    this.element = made("ol", "notes");
    this.element.setAttribute("aria-label", "notes");
    this.entries = notes.map((note) => {
      const entry = made("button");
      entry.type = "button";
      const run = names.length > 1 ? [made("span", "of", names[note.row])] : [];
      entry.append(made("span", "when", note.time), ...run, made("span", "", note.text));
      entry.addEventListener("click", () => player.go(note.at));
      this.element.appendChild(made("li")).append(entry);
      return entry;
    });
  }

  // Marks the notes of a moment, and nothing else moves.
  tell(moment) {
    this.entries.forEach((entry, k) => {
      if (this.notes[k].at === moment) entry.setAttribute("aria-current", "true");
      else entry.removeAttribute("aria-current");
    });
  }
}
