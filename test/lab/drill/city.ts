import type postgres from "postgres";
import { Accepted } from "#lib/messaging/submission.ts";
import { setPreference } from "#lib/notification/opt-out.ts";
import { partnerDirectory } from "#lib/partner/partner-keys.ts";
import { digestWith } from "#lib/secrets/pepper.ts";
import { localSecretName, readLocalSecret } from "../../../infra/local/secrets/store.ts";
import { storeOffice } from "../../../infra/local/seed/office.ts";
import { storeSeed } from "../../../infra/local/seed/seed.ts";
import { startBundle } from "../../steps/function.ts";
import type { Scene } from "../chaos/scene.ts";

/** More than a seal needs at least; a younger batch that is smaller is not sealed. */
export const readsPerSeal = 1_200;

/** Runs work as one of the login roles, where the role's secret says. */
export type As = <T>(
  role: Parameters<Scene["database"]["connectAs"]>[0],
  work: (sql: postgres.Sql) => Promise<T>,
) => Promise<T>;

/** Runs a function of the stage. @returns its log. @throws Error if it fails. */
export const runFunction = async (
  { variables }: Scene,
  fn: string,
  more: Readonly<Record<string, string>>,
): Promise<readonly string[]> => {
  const { code, lines } = await startBundle(fn, {}, { ...variables, ...more }).ended;
  if (code !== 0) throw new Error(`${fn}: ${lines.join("; ")}`);
  return lines;
};

export const pepperOf = ({ store }: Scene) => digestWith(readLocalSecret("opt-out-pepper", store));

/** Fills the city with invented residents, a partner and people who opted out. @returns the partner's key. */
export const fillCity = async (scene: Scene, as: As, residents: number, optedOut: readonly string[]) => {
  await as("importer", async (sql) => {
    await storeOffice(sql);
    await storeSeed(sql, residents, () => {});
  });
  await as("notify", async (sql) => {
    for (const phone of optedOut) await sql.begin((tx) => setPreference(tx, pepperOf(scene), phone, "out"));
  });
  return as("partner-admin", (sql) =>
    partnerDirectory(sql).add("invented-agency", "standard", { scopes: ["resident:read"] }),
  );
};

const readsPerStatement = 100;

/** Reads residents as a partner, which is audited; in statements as short as the role's timeout demands. */
export const readResidents = (as: As, reads: number): Promise<unknown> =>
  as("resident", async (sql) => {
    for (let read = 1; read <= reads; read += readsPerStatement) {
      await sql`
        select (resident.list(1, 1, 'invented-agency', 'key_of_the_drill', 'request ' || n)).total
        from generate_series(${read}::int, ${Math.min(reads, read + readsPerStatement - 1)}::int) n`;
    }
  });

/** Runs maintenance, which seals the audit and stores the anchors. */
export const maintain = (scene: Scene): Promise<unknown> =>
  runFunction(scene, "maintain", { DATABASE_SECRET_ID: localSecretName("database/maintenance") });

/** Sends a text through the messenger. @returns its id. */
const submit = async (
  { fleet, token }: Scene,
  sender: string,
  phone: string,
  text: string,
): Promise<string> => {
  const response = await fetch(`${fleet.urls()[0]}/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ sender, kind: "text", phone, text }),
  });
  if (response.status !== 201) throw new Error(`a message was refused with ${response.status}`);
  return Accepted.parse(await response.json()).id;
};

/** Sends one text to each of the scene's phones, `rounds` times. @returns their ids. */
export const submitRounds = async (scene: Scene, sender: string, rounds: number): Promise<string[]> => {
  const ids: string[] = [];
  for (let round = 0; round < rounds; round++)
    for (const phone of scene.numbers) ids.push(await submit(scene, sender, phone, `${sender} ${round}`));
  return ids;
};

/** Those of the messages that have arrived at a phone. */
export const arrived = ({ platform, numbers }: Scene, ids: readonly string[]): string[] =>
  ids.filter((id) => numbers.some((number) => platform.phone(number).find(id)));

export const untilArrived = (scene: Scene, ids: readonly string[], count = ids.length): Promise<void> =>
  scene.platform.until(() => arrived(scene, ids).length >= count, 120_000);
