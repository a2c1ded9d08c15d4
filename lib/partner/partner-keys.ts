import { randomBytes } from "node:crypto";
import type postgres from "postgres";
import { digestToken, mintToken } from "#lib/opaque-token.ts";
import type { PartnerScope } from "#lib/routes/route.ts";
import { keyPrefix } from "./authenticate.ts";

/** Generates an API key. It is shown once; only its digest is stored. */
export const mintKey = (): string => mintToken(keyPrefix);

export interface KeyTerms {
  readonly scopes: readonly PartnerScope[];
  /** Undefined for a key that does not expire. */
  readonly expiresAt?: Date | undefined;
  /** Codes of the agreement, of which each read must state one; none if it requires none. */
  readonly purposes?: readonly string[] | undefined;
  /** Fields of a response that list and search may show; none for all. */
  readonly fields?: readonly string[] | undefined;
}

/** How much a partner may read, with all its keys together. Null for no limit, undefined to leave it. */
export interface PartnerLimits {
  /** Residents that are shown or looked up within 24 hours; above, reads are rejected. */
  readonly residentsPerDay?: number | null | undefined;
  /** On average over ten minutes; above, the operator gets an alarm. */
  readonly lookUpsPerMinute?: number | null | undefined;
}

export interface KeySummary {
  partnerId: string;
  plan: string;
  /** Null for no limit. */
  residentsPerDay: number | null;
  /** Null for no limit. */
  lookUpsPerMinute: number | null;
  /** That the partner has read within 24 hours, with all its keys together. */
  residentsRead: number;
  keyId: string;
  scopes: string;
  /** Joined by commas; null if none is required. */
  purposes: string | null;
  /** Joined by commas; null for all. */
  fields: string | null;
  state: "active" | "expired" | "revoked";
  createdAt: Date;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

export interface PartnerPlan {
  readonly partnerId: string;
  readonly plan: string;
  readonly usageIdentifier: string;
  /** Has an active key. */
  readonly active: boolean;
}

/** A key in plain text, which cannot be shown again. */
export interface IssuedKey {
  readonly keyId: string;
  readonly key: string;
  readonly expiresAt: Date | undefined;
}

const standardPlan = "standard";

const issue = async (
  sql: postgres.ISql,
  partnerId: string,
  { scopes, expiresAt, purposes = [], fields = [] }: KeyTerms,
): Promise<IssuedKey> => {
  const key = mintKey();
  const keyId = `key_${randomBytes(5).toString("hex")}`;
  await sql`
    insert into partner.api_key (id, partner_id, digest, scopes, purposes, fields, expires_at)
    values (
      ${keyId}, ${partnerId}, ${digestToken(key)}, string_to_array(${scopes.join(" ")}, ' '),
      string_to_array(${purposes.join(",") || null}, ','), string_to_array(${fields.join(",") || null}, ','),
      ${expiresAt ?? null})`;
  return { keyId, key, expiresAt };
};

/** @returns whether there is such a partner. */
const setLimits = async (
  sql: postgres.ISql,
  partnerId: string,
  { residentsPerDay: residents, lookUpsPerMinute: lookUps }: PartnerLimits,
): Promise<boolean> => {
  const { count } = await sql`
    update partner.partner set
      residents_per_day = case when ${residents === undefined} then residents_per_day else ${residents ?? null} end,
      look_ups_per_minute = case when ${lookUps === undefined} then look_ups_per_minute else ${lookUps ?? null} end
    where id = ${partnerId}`;
  return count > 0;
};

/**
 * Manages partner agencies and their API keys, for the operator.
 * @param sql connection of the role `municipal_partner_admin`.
 */
export const partnerDirectory = (sql: postgres.Sql) => ({
  /**
   * Adds a partner, or another key for an existing partner: `npm run city -- partner add` refuses that while one is active.
   * @param plan undefined keeps an existing partner's plan; a new partner gets the standard plan.
   * @param limits undefined ones are kept in the same way; a new partner gets those of an agency with 50 clerks.
   */
  add: (
    partnerId: string,
    plan: string | undefined,
    terms: KeyTerms,
    limits: PartnerLimits = {},
  ): Promise<IssuedKey> =>
    sql.begin(async (transaction) => {
      await transaction`
        insert into partner.partner as known (id, plan, usage_identifier)
        values (${partnerId}, ${plan ?? standardPlan}, ${randomBytes(20).toString("hex")})
        on conflict (id) do update set plan = coalesce(${plan ?? null}, known.plan)`;
      await setLimits(transaction, partnerId, limits);
      return issue(transaction, partnerId, terms);
    }) as Promise<IssuedKey>,

  /** Changes a partner's limits, from its next read on. @returns false if there is no such partner. */
  limit: (partnerId: string, limits: PartnerLimits): Promise<boolean> => setLimits(sql, partnerId, limits),

  /** Lists all keys with their state, by partner and age. */
  list: (): Promise<KeySummary[]> => sql<KeySummary[]>`
    select p.id as "partnerId", p.plan, p.residents_per_day as "residentsPerDay",
      p.look_ups_per_minute as "lookUpsPerMinute", resident.count_read_by(p.id) as "residentsRead", k.id as "keyId", array_to_string(k.scopes, ' ') as scopes,
      array_to_string(k.purposes, ',') as purposes, array_to_string(k.fields, ',') as fields,
      case when k.revoked_at is not null then 'revoked' when partner.is_active(k) then 'active' else 'expired' end
        as state,
      k.created_at as "createdAt", least(k.expires_at, k.retires_at) as "expiresAt", k.last_used_at as "lastUsedAt"
    from partner.partner p join partner.api_key k on k.partner_id = p.id
    order by p.id, k.created_at`,

  /** Revokes one key, or all keys of a partner. @returns the ids of the revoked keys. */
  async revoke(keyOrPartnerId: string): Promise<string[]> {
    const revoked = await sql<{ id: string }[]>`
      update partner.api_key k set revoked_at = now()
      where (id = ${keyOrPartnerId} or partner_id = ${keyOrPartnerId}) and partner.is_active(k)
      returning id`;
    return revoked.map(({ id }) => id);
  },

  /**
   * Issues a new key with the terms of the newest active one, unless others are given; the old keys expire after
   * `overlapMs`.
   * @returns undefined if the partner has no active key.
   */
  rotate: (
    partnerId: string,
    overlapMs: number,
    {
      plan,
      scopes,
      expiresAt,
      purposes,
      fields,
    }: Partial<KeyTerms> & { readonly plan?: string | undefined } = {},
  ): Promise<IssuedKey | undefined> =>
    sql.begin(async (transaction) => {
      const active = await transaction<
        { scopes: string; purposes: string | null; fields: string | null; expiresAt: Date | null }[]
      >`
        select array_to_string(scopes, ' ') as scopes, array_to_string(purposes, ',') as purposes,
          array_to_string(fields, ',') as fields, expires_at as "expiresAt" from partner.api_key k
        where partner_id = ${partnerId} and partner.is_active(k)
        order by created_at desc for update`;
      const [newest] = active;
      if (!newest) return undefined;
      await transaction`
        update partner.api_key k
        set retires_at = least(retires_at, now() + ${overlapMs} * interval '1 millisecond')
        where partner_id = ${partnerId} and partner.is_active(k)`;
      if (plan) await transaction`update partner.partner set plan = ${plan} where id = ${partnerId}`;
      return issue(transaction, partnerId, {
        scopes: scopes ?? (newest.scopes.split(" ") as PartnerScope[]),
        purposes: purposes ?? newest.purposes?.split(","),
        fields: fields ?? newest.fields?.split(","),
        expiresAt: expiresAt ?? newest.expiresAt ?? undefined,
      });
    }) as Promise<IssuedKey | undefined>,

  /** Lists all partners, including those without a key. */
  listPlans: (): Promise<PartnerPlan[]> => sql<PartnerPlan[]>`
    select p.id as "partnerId", p.plan, p.usage_identifier as "usageIdentifier",
      exists (select from partner.api_key k where k.partner_id = p.id and partner.is_active(k)) as active
    from partner.partner p order by p.id`,

  async findPlan(usageIdentifier: string): Promise<string | undefined> {
    const [row] = await sql<{ plan: string }[]>`
      select plan from partner.partner where usage_identifier = ${usageIdentifier}`;
    return row?.plan;
  },
});
