// Puts the page together: reads the material, makes the panels, and draws the moment.

import { Book } from "./book.js";
import { unpacked } from "./decode.js";
import { made } from "./text.js";

const OLD =
  "This browser cannot unpack the figure's numbers (it has no DecompressionStream); " +
  "a current version of any browser can.";

async function begin() {
  const main = document.querySelector("main");
  if (typeof DecompressionStream === "undefined") {
    main.append(made("p", "", OLD));
    return;
  }
  const data = await unpacked(JSON.parse(document.getElementById("material").textContent));
  const book = new Book(data);
  // figure.html#frame=200 begins there, so that a moment can be linked to.
  const asked = /frame=(\d+)/.exec(location.hash);
  if (asked) book.player.go(Number(asked[1]) - 1);
  book.listenToHolder();
  main.dataset.ready = "true";
}

begin();
