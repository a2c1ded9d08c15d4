import * as z from "zod/mini";
import { cloudApiSchema } from "./cloud-api/settings.ts";
import { smsSchema } from "./sms/settings.ts";

/** The secret `messenger-channels`: how each account that is reached by requests is called, by the account's name. */
export const channelsSchema = () =>
  z.object({
    accounts: z.record(z.string(), z.discriminatedUnion("channel", [cloudApiSchema(), smsSchema()])),
  });
