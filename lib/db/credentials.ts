import * as z from "zod/mini";
import { findSetting } from "#lib/config.ts";

/**
 * A database secret, in the shape that RDS keeps.
 * @see https://docs.aws.amazon.com/secretsmanager/latest/userguide/reference_secret_json_structure.html
 */
export const Credentials = z.object({
  host: z.string(),
  port: z.int(),
  dbname: z.string(),
  username: z.string(),
  password: z.string(),
});
export type Credentials = z.infer<typeof Credentials>;

/** The same, in the driver's own names. */
export const connectionTo = ({ dbname, ...rest }: Credentials) => ({ ...rest, database: dbname });

/** The driver's TLS mode: encrypted and verified, unless the settings say otherwise. */
export const tlsSetting = (): "verify-full" | false =>
  findSetting("DATABASE_TLS") === "disable" ? false : "verify-full";
