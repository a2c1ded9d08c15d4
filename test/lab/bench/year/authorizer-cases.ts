import { digestToken, mintToken } from "#lib/opaque-token.ts";
import { findPartnerByKey, keyPrefix } from "#lib/partner/authenticate.ts";
import { findSender, passwordPrefix } from "#lib/sender/basic-auth.ts";
import type { Ground, Measurable } from "./groups.ts";

/** Each lookup opens a connection, as it does on AWS, and returns it. */
export async function* authorizerCases({ owner }: Ground): AsyncGenerator<Measurable> {
  const [key, password] = [mintToken(keyPrefix), mintToken(passwordPrefix)];
  await owner`update partner.api_key set digest = ${digestToken(key)} where id = 'key-7'`;
  await owner`update messaging.sender_credential set digest = ${digestToken(password)} where sender = 'desk'`;
  yield { name: "authorizers: partner by key, with its connection", run: () => findPartnerByKey(key) };
  yield {
    name: "authorizers: unknown key, with its connection",
    run: () => findPartnerByKey(mintToken(keyPrefix)),
  };
  yield {
    name: "authorizers: sender by password, with its connection",
    run: () => findSender("desk", password),
  };
}
