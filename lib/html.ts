/** Markup that may be shown as it is. */
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
 * Markup of a template. What is put into it is escaped, unless it is markup itself; null and undefined are nothing.
 *
 * @example html`<p title="${title}">${text}</p>`
 */
export const html = (strings: TemplateStringsArray, ...pieces: Piece[]): Html =>
  new Html(strings.map((text, index) => text + spell(pieces[index])).join(""));
