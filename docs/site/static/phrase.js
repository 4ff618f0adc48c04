/* Scroll the page that a search result opens to the phrase that was searched for. */
"use strict";

(() => {
  const BLOCKS = "h1, h2, h3, h4, p, li, th, td, dt, dd, pre";
  const squeezed = (text) => text.toLowerCase().replace(/\s+/g, " ").trim();
  const given = new URLSearchParams(window.location.search);
  const phrase = squeezed(given.get("phrase") ?? "");

  // Sphinx passes words to the next page, without short ones: pass the whole phrase.
  const pass = (event) => {
    const link = event.target.closest("#search-results a");
    if (link) link.search = new URLSearchParams({ phrase: given.get("q") ?? "" });
  };
  document.addEventListener("click", pass, true);
  document.addEventListener("auxclick", pass, true);

  const innermost = (blocks) =>
    blocks.find((one) => !blocks.some((other) => other !== one && one.contains(other)));

  window.addEventListener("load", () => {
    if (!phrase) return;
    const blocks = [...document.querySelectorAll("article")].flatMap((article) => [
      ...article.querySelectorAll(BLOCKS),
    ]);
    const having = (words) =>
      innermost(
        blocks.filter((block) => {
          const text = squeezed(block.textContent);
          return words.every((word) => text.includes(word));
        }),
      );
    const place = having([phrase]) ?? having(phrase.split(" "));
    if (!place) return;
    place.classList.add("found");
    place.scrollIntoView({ block: "center" });
  });
})();
