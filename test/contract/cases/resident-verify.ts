import * as z from "zod/mini";
import type { Section } from "../case.ts";
import { expectInvalid, expectRefusal, expectRule, expectShape, expectStatus } from "../mismatch.ts";
import { Skipped } from "../skipped.ts";
import type { System } from "../system.ts";
import { needs } from "./resident-page.ts";

const verifyPath = "/v1/penduduk/verify";
/** A number that nobody has, as it begins with no province; another one each time, because each allows ten. */
const inventNumber = () => `00${String(Math.random()).slice(2).padEnd(14, "0").slice(0, 14)}`;

const answer = z.optional(z.enum(["match", "no_match"]));
const Answers = z.strictObject({ data: z.strictObject({ p_nama: answer, p_t_desakel: answer }) });

const verify = async (system: System, body: unknown, about: string) => {
  const found = await system.ask({ as: "partner", path: verifyPath, body, about });
  if (found.status === 403) throw new Skipped("the key has no scope resident:verify");
  return found;
};

export const residentVerify: Section = {
  title: "Resident: verify",
  cases: [
    {
      name: "answers 401 to a verification without a key, and 404 to another method",
      needs: [],
      fix: "Check that the api-key authorizer guards the route, and the gateway responses in infra/aws/integration-api.ts.",
      check: async ({ ask }) => {
        expectRefusal(await ask({ path: verifyPath, body: "{" }), 401, "unauthorized");
        expectRefusal(await ask({ method: "GET", path: verifyPath }), 404, "not_found");
      },
    },
    {
      name: "answers no_match for each value about a number that nobody has, and nothing else",
      needs,
      fix: "Search the log of resident-verify for the request id. A 500 usually comes from the database or its secret; 429 means too many wrong values within a day.",
      check: async (system) => {
        const body = { p_nik: inventNumber(), p_nama: "Tidak Ada", p_t_desakel: "Tidak Ada", p_t_kec: " " };
        const found = await verify(system, body, "an unknown number");
        expectStatus(found, 200);
        const { data } = expectShape(found, Answers);
        const isNone = data.p_nama === "no_match" && data.p_t_desakel === "no_match";
        expectRule(found, isNone, "no_match for both values", found.text);
      },
    },
    {
      name: "rejects a verification without a valid number, or without a value",
      needs,
      fix: "Check the schema of the claims in lib/routes/resident.ts.",
      check: async (system) => {
        for (const p_nik of [undefined, "", "1234", 1234])
          expectInvalid(
            await verify(system, { p_nik, p_nama: "Siti" }, `p_nik ${p_nik}`),
            "p_nik",
            "p_nik must be a string of exactly 16 digits",
          );
        for (const p_nama of [undefined, " "])
          expectInvalid(
            await verify(system, { p_nik: inventNumber(), p_nama }, `p_nama ${p_nama}`),
            "p_nama",
            "Send at least one value to verify",
          );
      },
    },
  ],
};
