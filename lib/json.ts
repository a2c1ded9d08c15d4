/** Parses JSON, before which legacy systems put a byte order mark. @returns undefined for anything else, such as an error page. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return undefined;
  }
};
