import postgres from "postgres";
import * as z from "zod";
import { readSecret, setting } from "./secret.ts";

const Credentials = z.object({
  host: z.string(),
  port: z.int(),
  dbname: z.string(),
  username: z.string(),
  password: z.string(),
});

/** One connection, because a Lambda environment serves one request at a time. */
export const database = readSecret("DATABASE_SECRET_ID", Credentials).then(({ dbname, ...credentials }) =>
  postgres({
    ...credentials,
    database: dbname,
    ssl: setting("DATABASE_TLS") === "disable" ? false : "verify-full",
    max: 1,
    prepare: false,
    fetch_types: false,
    connect_timeout: 2,
    types: { bigint: { to: 20, from: [20], parse: Number, serialize: String } },
  }),
);
database.catch(() => {});
