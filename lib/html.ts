/** Markup that needs no escaping. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Piece = Html | string | number | null | undefined | readonly Piece[];

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const spell = (piece: Piece): string => {
  if (piece instanceof Html) return piece.text;
  if (Array.isArray(piece)) return piece.map(spell).join("");
  return String(piece ?? "").replace(/[&<>"']/g, (character) => entities[character] ?? "");
};

/**
 * Makes markup from a template. Values are escaped unless they are markup themselves; null and undefined become empty.
 *
 * @example html`<p title="${title}">${text}</p>`
 */
export const html = (strings: TemplateStringsArray, ...pieces: Piece[]): Html =>
  new Html(strings.map((text, index) => text + spell(pieces[index])).join(""));
