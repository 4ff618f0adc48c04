// Texts in pieces, each a text and its style: "^" raised, "_" lowered, "i" slanted. They become
// text and never markup, so that a title from a run file stays a title.

export const SVG = "http://www.w3.org/2000/svg";
const SMALLER = 0.74;
const FAMILY = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif';

export function fontOf(size, style = "") {
  return `${style.includes("i") ? "italic " : ""}${size}px ${FAMILY}`;
}

// The same without styles.
export function plainText(pieces) {
  return pieces.map(([text, style]) => (style.startsWith("^") ? "^" : "") + text).join("");
}

// Put pieces into an element.
export function fill(element, pieces) {
  element.replaceChildren(
    ...pieces.map(([text, style]) => {
      if (!style) return document.createTextNode(text);
      const names = { "^": "sup", _: "sub" };
      const node = document.createElement(names[style[0]] ?? "i");
      const inner = style.length > 1 ? node.appendChild(document.createElement("i")) : node;
      inner.textContent = text;
      return node;
    }),
  );
  return element;
}

// A new element with a class and pieces, or a plain text.
export function made(tag, name = "", content = []) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  return typeof content === "string" ? (element.textContent = content, element) : fill(element, content);
}

function sized(size, style) {
  return /[\^_]/.test(style) ? size * SMALLER : size;
}

// How wide pieces are on a canvas.
export function widthOf(ctx, pieces, size) {
  let width = 0;
  for (const [text, style] of pieces) {
    ctx.font = fontOf(sized(size, style), style);
    width += ctx.measureText(text).width;
  }
  return width;
}

// Write pieces on a canvas with their baseline at y, from x on, up to it, or around it.
export function write(ctx, pieces, x, y, size, align = "left") {
  const share = { left: 0, center: 0.5, right: 1 }[align];
  let left = share ? x - share * widthOf(ctx, pieces, size) : x;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  for (const [text, style] of pieces) {
    ctx.font = fontOf(sized(size, style), style);
    const up = style.startsWith("^") ? 0.36 : style.startsWith("_") ? -0.18 : 0;
    ctx.fillText(text, left, y - up * size);
    left += ctx.measureText(text).width;
  }
}
