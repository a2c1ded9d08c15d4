import * as z from "zod/mini";
import { getSetting } from "#lib/config.ts";
import { readSecret } from "#lib/secrets/secret.ts";
import type { Credentials } from "./credentials.ts";

/** A secret managed by RDS has only these fields. */
const Admin = z.object({ username: z.string(), password: z.string() });

/** Reads the administrator's login from the secret, and the database's address from the settings. */
export const readAdmin = async (): Promise<Credentials> => ({
  ...(await readSecret(getSetting("DATABASE_SECRET_ID"), Admin)),
  host: getSetting("DATABASE_HOST"),
  port: Number(getSetting("DATABASE_PORT")),
  dbname: getSetting("DATABASE_NAME"),
});

/** Tells who deploys how to finish a migration that takes longer than a function may. */
export const finishByHand = ({ host, port, dbname }: Credentials): string =>
  `run it without a time limit, from a checkout of the commit that was deployed. Reach ${host}:${port} as in "Reach the ` +
  `console and the database" in infra/RUNBOOK.md, then: DATABASE_SECRET_ID=${getSetting("DATABASE_SECRET_ID")} ` +
  `DATABASE_HOST=${host} DATABASE_PORT=${port} DATABASE_NAME=${dbname} npm run migrate. Then deploy again.`;
