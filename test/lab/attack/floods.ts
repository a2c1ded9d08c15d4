import { setTimeout as pause } from "node:timers/promises";
import { getTicket, login } from "#lib/routes/employee.ts";
import { readMessage, sendMessage } from "#lib/routes/messaging.ts";
import { listResidents } from "#lib/routes/resident.ts";
import type { Route } from "#lib/routes/route.ts";
import { listCategories } from "#lib/routes/tourism.ts";
import { type Finding, Tally } from "./finding.ts";
import { apiOf, credentialOf, openLine, type Target } from "./target.ts";

/** Another address of this machine. */
const attacker = "127.0.0.2";

/** Anonymous requests to a route, and a caller of the same API beside them. */
const scenes: readonly { readonly flooded: Route; readonly used: Route }[] = [
  { flooded: sendMessage, used: readMessage },
  { flooded: readMessage, used: readMessage },
  { flooded: listResidents, used: listResidents },
  { flooded: login, used: listCategories },
  { flooded: getTicket, used: listResidents },
];

/** Between two requests of the caller. */
const pauseMs = 50;

const isServed = (status: number) => status === 200 || status === 404;

/**
 * Floods routes without a credential from one address, through the limits of the gateway, while another address asks as
 * it should: as soon as the first one is limited, each request of the other is served.
 */
export const attackWithFloods = async (target: Target, requests: number): Promise<Finding[]> => {
  if (!target.city) return [];
  const tally = new Tally("requests of a caller during an anonymous flood");
  for (const { flooded, used } of scenes) {
    const flood = openLine(target.addresses[apiOf(flooded).name], { localAddress: attacker });
    const line = openLine(target.addresses[apiOf(used).name]);
    const anonymous = { method: flooded.method, path: flooded.path, headers: {} };
    let flooding = true;
    // until then, the flood may use up what all callers of a method share, for some seconds
    let isLimited = false;
    const flooders = Array.from({ length: 50 }, async () => {
      for (let sent = 0; sent < requests / 50; sent++) {
        const answer = await flood.send(anonymous).catch(() => undefined);
        isLimited ||= String(answer?.headers.ratelimit).startsWith('"address"');
      }
    });
    const ended = Promise.all(flooders).finally(() => {
      flooding = false;
    });
    const headers = { "content-type": "application/json", ...credentialOf(target, used.auth.kind) };
    const body = used.body ? "{}" : undefined;
    while (flooding) {
      if (isLimited) {
        const path = used.path.replace("{id}", "unknown");
        const { status } = await line.send({ method: used.method, path, headers, body });
        const reason = `${used.path} is ${status} while ${flooded.path} is flooded`;
        tally.count(isServed(status) ? undefined : reason);
      }
      await pause(pauseMs);
    }
    await ended;
    await Promise.all([flood.close(), line.close()]);
  }
  return [tally.finding];
};
