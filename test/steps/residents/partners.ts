import { type KeyTerms, type PartnerLimits, partnerDirectory } from "#lib/partner/partner-keys.ts";
import type { OwnCity } from "../city/own-city.ts";

const scopes = ["resident:read", "resident:number", "resident:verify"] as const;

/** Partners of an own city, and their reads of residents. */
export const partnersOf = (own: OwnCity) => {
  const withDirectory = async <T>(work: (directory: ReturnType<typeof partnerDirectory>) => Promise<T>) => {
    const sql = own.city.database.connectAs("partner-admin");
    return work(partnerDirectory(sql)).finally(() => sql.end());
  };
  return {
    withDirectory,

    /** Adds a partner that may do everything. Its plan slows no test down. */
    async addPartner(limits: PartnerLimits = {}, terms: Partial<KeyTerms> = {}) {
      const name = `agency-${Math.random().toString(36).slice(2, 8)}`;
      const issued = await withDirectory((directory) =>
        directory.add(name, "portal", { scopes, ...terms }, limits),
      );
      return { name, ...issued };
    },

    /** @param path after that of the list. @param body a text is sent as it is. */
    post: (key: string, path: string, body: object | string = {}, headers: Record<string, string> = {}) =>
      fetch(`${own.city.baseUrl}/v1/penduduk${path}`, {
        method: "POST",
        headers: { apikey: key, "content-type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
  };
};
