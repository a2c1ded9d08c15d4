import type postgres from "postgres";
import * as z from "zod/mini";
import { type LoginRole, loginRoles } from "./roles.ts";

const names = Object.keys(loginRoles) as [LoginRole, ...LoginRole[]];

/** Most connections of each login role. A role without a number may take all that the server has. */
export const ConnectionLimits = z.partialRecord(z.enum(names), z.int().check(z.gte(1)));
export type ConnectionLimits = z.infer<typeof ConnectionLimits>;

/** Sets the limits. Connections that a role already has remain. @param sql connection of a role that may alter these. */
export const limitConnections = async (sql: postgres.Sql, limits: ConnectionLimits): Promise<void> => {
  for (const name of names)
    await sql.unsafe(`alter role ${loginRoles[name]} connection limit ${limits[name] ?? -1}`);
};
