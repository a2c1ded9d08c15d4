import type { FastifyInstance } from "fastify";
import type postgres from "postgres";
import type { WhatsApp } from "#lib/channels/whatsapp/whatsapp.ts";
import type { BulkDesk } from "#lib/console/bulk-state.ts";
import { registerConsole } from "#lib/console/console.ts";
import { type IssuerSettings, openIssuer } from "#lib/console/login/issuer.ts";
import type { LocalUser } from "#lib/console/login/local-users.ts";
import { openActs } from "#lib/console/panels/acts.ts";
import { type Connection, readConsoleState } from "#lib/console/state.ts";
import { isDatabaseUp } from "#lib/db/outage.ts";
import { steadyNow } from "#lib/deadline.ts";
import { ApiError } from "#lib/errors/api-error.ts";
import { channels } from "#lib/messaging/channel.ts";
import { maskPhone } from "#lib/messaging/phone.ts";
import { setPreference, type Wish } from "#lib/notification/opt-out.ts";
import type { digestTerm } from "#lib/secrets/pepper.ts";
import { setAnswer, settleUnresolved } from "./outbox/answer.ts";
import { cancelRun } from "./outbox/cancel.ts";
import { setPaused } from "./outbox/depth.ts";
import type { Obstacle } from "./outbox/message.ts";
import { explainWaiting } from "./send/waiting.ts";
import type { Leadership } from "./term.ts";

export interface OperatorConsoleOptions {
  /** Lists the console's operators whose passwords it checks itself. */
  readonly findUsers: () => Promise<readonly LocalUser[]>;
  /** Where the console's operators log in instead. */
  readonly issuer?: IssuerSettings | undefined;
  /** Digests the numbers that opt out. */
  readonly findPepper: () => ReturnType<typeof digestTerm>;
  /** Names of the notification jobs. */
  readonly jobs: readonly string[];
}

/** Of an account that is reached by requests. */
const requestKinds = { open: "usable", stopped: "rejected" } as const;

/** Describes the connection for the console; unknown unless this task is the leader. */
const describeConnection = ({ account, link }: Partial<Leadership> = {}): Connection => {
  const state = link?.state() ?? { kind: "closed" as const, since: new Date() };
  const since = ((state.kind !== "open" && state.downSince) || state.since).toISOString();
  if (account && !channels[account.channel].isLinked) {
    const kind = requestKinds[state.kind as keyof typeof requestKinds] ?? "unreachable";
    return { kind, since, answer: state.kind === "stopped" ? state.code : undefined };
  }
  switch (state.kind) {
    case "unpaired":
      return { kind: "connecting", since };
    case "open":
      return { kind: "open", since, phone: maskPhone(state.as) };
    case "pairing":
      return { kind: "pairing", since, qr: state.qr, code: state.code, passkey: state.passkey };
    case "stopped":
      return { kind: "stopped", since, answer: state.code };
    case "closed":
      return {
        ...{ kind: "closed", since, answer: state.code, unlinked: state.unlinked },
        retryAt: state.retryAt?.toISOString(),
      };
    default:
      return { kind: state.kind, since };
  }
};

const requireLeader = (leadership: Leadership | undefined): WhatsApp => {
  if (leadership?.whatsApp) return leadership.whatsApp;
  if (leadership) {
    const message = "This account has no phone to link; its settings are in a secret.";
    throw new ApiError({ status: 409, code: "no_link", message });
  }
  const message = "Another task leads; use its console, or stop it.";
  throw new ApiError({ status: 409, code: "not_leader", message });
};

/**
 * Registers the console of this task.
 *
 * @param consoleSql for what the console reads, with its own role; the sender never waits for it.
 */
export const buildConsole = (
  server: FastifyInstance,
  { findUsers, issuer, findPepper, jobs, bulk }: OperatorConsoleOptions & { readonly bulk: BulkDesk },
  sql: postgres.Sql,
  consoleSql: postgres.Sql,
  leaderships: ReadonlyMap<number, Leadership>,
) => {
  /** By default the first of those that this task leads. */
  const findLeadership = (name: string | undefined) => {
    const led = [...leaderships.values()].sort((one, other) => one.account.id - other.account.id);
    return name === undefined ? led[0] : led.find(({ account }) => account.name === name);
  };
  const prefer = async (phone: string, wish: Wish) => {
    const pepper = await findPepper();
    return sql.begin(async (tx) => {
      if (wish === "out") await settleUnresolved(tx);
      return setPreference(tx, pepper, phone, wish);
    });
  };
  registerConsole(server, {
    findUsers,
    issuer: issuer && openIssuer(issuer),
    acts: openActs(sql),
    bulk,
    readState: (filter, chosen) => {
      const leadership = findLeadership(chosen);
      const { link, pacing } = leadership ?? {};
      const explain = async (reading: postgres.ISql, ids: readonly string[]) => {
        const explained: [string, readonly Obstacle[]][] = [];
        for (const { account, channel, pacing } of leaderships.values())
          explained.push(...(await explainWaiting(reading, { account: account.id, pacing, channel }, ids)));
        return new Map(explained);
      };
      const limits = pacing?.describe(steadyNow());
      const own = {
        account: chosen ?? leadership?.account.name,
        connection: describeConnection(leadership),
        leader: link !== undefined,
        limits,
        jobs,
      };
      const sources = {
        own,
        number: pacing?.number,
        isDatabaseUp: () => isDatabaseUp(sql),
        explain,
        filter,
      };
      return readConsoleState(consoleSql, sources);
    },
    optOut: (phone) => prefer(phone, "out"),
    optIn: (phone) => prefer(phone, "in"),
    setAnswer: (answer) => setAnswer(sql, answer),
    cancelRun: (name) => cancelRun(sql, name),
    setPaused: (paused) => setPaused(sql, paused),
    requestPairingCode: async (phone, of) => requireLeader(findLeadership(of)).requestPairingCode(phone),
    unlink: async (of) => requireLeader(findLeadership(of)).unlink(),
    logIn: async (of) => requireLeader(findLeadership(of)).logins.resume(),
  });
};
