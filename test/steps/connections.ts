import postgres from "postgres";
import { inject, onTestFinished } from "vitest";

export type Address =
  | "adminUrl"
  | "importerUrl"
  | "partnerAdminUrl"
  | "residentUrl"
  | "employeeUrl"
  | "sessionAdminUrl"
  | "sessionUrl"
  | "notifyUrl";

/** A connection to the running city's database that ends with the test. */
export const connectFor = (address: Address): postgres.Sql => {
  const sql = postgres(inject("city")[address], { max: 1, onnotice: () => {} });
  onTestFinished(() => sql.end());
  return sql;
};
