import * as z from "zod/mini";
import { Fault } from "./fault.ts";

/** The partner whose key was accepted, as the api-key authorizer hands it on. */
export interface Partner {
  readonly partnerId: string;
  readonly keyId: string;
  readonly scopes: readonly string[];
}

/** What an authorizer may hand on: strings, numbers and booleans only. */
const Context = z.object({ partner_id: z.string(), key_id: z.string(), scopes: z.string() });

export const partnerToContext = ({ partnerId, keyId, scopes }: Partner): z.infer<typeof Context> => ({
  partner_id: partnerId,
  key_id: keyId,
  scopes: scopes.join(" "),
});

/**
 * The partner behind a request.
 *
 * @throws Fault 401 when no authorizer ran: a route that is wired wrong must not answer.
 */
export const getPartner = (context: unknown): Partner => {
  const parsed = Context.safeParse(context);
  if (!parsed.success) throw new Fault(401, "unauthorized", "This endpoint needs an API key");
  const { partner_id, key_id, scopes } = parsed.data;
  return { partnerId: partner_id, keyId: key_id, scopes: scopes.split(" ") };
};
