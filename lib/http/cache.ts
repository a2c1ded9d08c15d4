/** Returns the strong ETag of a body (RFC 9110, 8.8.3). Loads `node:crypto` here: 4 ms that a redirect does not need. */
export const entityTag = (body: string): string => {
  const { createHash } = process.getBuiltinModule("node:crypto");
  return `"${createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;
};

/** Whether `If-None-Match` contains the tag: weak comparison over a list, or `*` (RFC 9110, 13.1.2). */
export const matches = (ifNoneMatch: string | undefined, tag: string): boolean =>
  ifNoneMatch?.trim() === "*" ||
  (ifNoneMatch ?? "").split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === tag);
