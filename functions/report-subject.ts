import type { Context } from "aws-lambda";
import { prepareDatabase } from "#lib/db/database.ts";
import { reportToPortal } from "#lib/resident/citizen-portal.ts";
import { preparePepper } from "#lib/secrets/pepper.ts";

prepareDatabase();
preparePepper();

/** Reports to the citizens' portal what is stored about the citizen who has logged in there, and who read it. */
export const handler = (event: unknown, { awsRequestId }: Context) => reportToPortal(event, awsRequestId);
