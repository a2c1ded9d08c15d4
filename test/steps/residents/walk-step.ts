import type postgres from "postgres";

interface Step {
  readonly residents: readonly Readonly<Record<string, string>>[];
  readonly ids: readonly string[];
  readonly removed: readonly string[];
  readonly after: string | null;
  readonly changed_since: string | null;
}

export type Cursor = { readonly after: string } | { readonly changed_since: string };

/** Reads one step of a walk. */
export const readStep = async (
  sql: postgres.Sql,
  cursor: Cursor,
  size: number,
  partner = "agency",
  key = "k",
  purpose: string | null = null,
): Promise<Step> => {
  const { after = null, changed_since = null } = cursor as { after?: string; changed_since?: string };
  const [step] = await sql<Step[]>`
    select residents, ids, removed, after, changed_since
    from resident.list(1, ${size}, ${partner}, ${key}, 'r', ${purpose}, null, null, ${after}, ${changed_since})`;
  if (!step) throw new Error("there is no answer");
  return step;
};
