import postgres from "postgres";
import { inject, onTestFinished } from "vitest";
import { type Credentials, connectionTo } from "#lib/db/credentials.ts";

export type Address =
  | "adminUrl"
  | "superuserUrl"
  | "importerUrl"
  | "partnerAdminUrl"
  | "senderAdminUrl"
  | "residentUrl"
  | "employeeUrl"
  | "employeeAdminUrl"
  | "messengerUrl"
  | "consoleUrl"
  | "notifyUrl"
  | "maintenanceUrl"
  | "subjectUrl";

/** A connection to the running city's database that ends with the test. @param max how many there are at most. */
export const connectFor = (address: Address, max = 1): postgres.Sql => {
  const sql = postgres(inject("city")[address], { max, onnotice: () => {} });
  onTestFinished(() => sql.end());
  return sql;
};

/** Whether a server takes these credentials. */
export const canLogIn = async (credentials: Credentials): Promise<boolean> => {
  const sql = postgres({ ...connectionTo(credentials), max: 1, onnotice: () => {} });
  return sql`select 1`
    .then(
      () => true,
      (error: { code?: string }) => {
        if (error.code === "28P01") return false;
        throw error;
      },
    )
    .finally(() => sql.end());
};
