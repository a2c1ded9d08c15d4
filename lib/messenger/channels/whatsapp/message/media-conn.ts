import { getBinaryNodeChild, getBinaryNodeChildren, S_WHATSAPP_NET, type WASocket } from "baileys";
import { steadyNow } from "#lib/steady-clock.ts";

/** The servers that accept media, the first one preferred. */
export interface MediaConn {
  readonly hosts: readonly string[];
  /** Authorizes uploads to all of them. */
  readonly auth: string;
  readonly validUntil: number;
}

const cached = new WeakMap<WASocket, MediaConn>();

/**
 * Queries the media servers, cached for as long as the platform says. baileys' own `refreshMediaConn` stores the promise
 * of its query: after one that fails, every later call fails until the next connection.
 *
 * @param isFresh queries again, whatever is cached.
 */
export const getMediaConn = async (socket: WASocket, isFresh: boolean): Promise<MediaConn> => {
  const known = cached.get(socket);
  if (known && !isFresh && steadyNow() < known.validUntil) return known;
  const answer = await socket.query({
    tag: "iq",
    attrs: { type: "set", xmlns: "w:m", to: S_WHATSAPP_NET },
    content: [{ tag: "media_conn", attrs: {} }],
  });
  const node = getBinaryNodeChild(answer, "media_conn");
  const { auth = "", ttl = "0" } = node?.attrs ?? {};
  const hosts = getBinaryNodeChildren(node, "host").flatMap(({ attrs: { hostname } }) => hostname ?? []);
  const conn = { hosts, auth, validUntil: steadyNow() + Number(ttl) * 1_000 };
  cached.set(socket, conn);
  return conn;
};
