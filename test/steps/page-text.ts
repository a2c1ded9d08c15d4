/** The text of a part of a page, as the operator reads it. */
export const textOf = (page: string): string =>
  page
    .replace(/<[^>]+>/g, " ")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replace(/\s+/g, " ")
    .trim();
