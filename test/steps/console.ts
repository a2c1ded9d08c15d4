import Fastify, { type FastifyInstance } from "fastify";
import { type ConsoleOptions, registerConsole } from "#lib/console/console.ts";
import type { MessageFilter } from "#lib/console/login/operator-login.ts";
import type { Role } from "#lib/console/login/roles.ts";
import type { Acts } from "#lib/console/panels/acts.ts";
import { hashPassword } from "#lib/password-hash.ts";
import { openFakeDesk } from "./console-desk.ts";
import { connected, pairing } from "./console-state.ts";

/** Demo credentials. */
export const operator = { username: "operator", password: "correct horse" };

/** An operator's row in the secret, with a digest that costs little. */
export const userOf = async ({ username, password } = operator, role: Role = "admin") => ({
  username,
  role,
  hash: await hashPassword(password, { N: 16, r: 1, p: 1 }),
});
const user = await userOf();

/** A record in memory, one line for each act. */
const openFakeActs = (lines: string[]): Acts => {
  const begin: Acts["begin"] = async ({ name }, action, subject) =>
    lines.push([name, action, subject].filter(Boolean).join(" ")) - 1;
  const end: Acts["end"] = async (id, result) => {
    lines[id] += ` ${result}`;
  };
  return { begin, end, record: async (...act) => end(await begin(...act), "done") };
};

/** A console over a messenger in memory. What is done to the messenger is in `calls`, and shows in `state`. */
export const createConsole = (more: Partial<ConsoleOptions> = {}, server: FastifyInstance = Fastify()) => {
  const messenger = {
    state: connected(),
    calls: [] as string[],
    acts: [] as string[],
    filter: {} as MessageFilter,
  };
  registerConsole(server, {
    findUsers: async () => [user],
    acts: openFakeActs(messenger.acts),
    bulk: openFakeDesk(messenger.calls),
    optOut: async (phone) => messenger.calls.push(`opt out ${phone}`) > 0,
    optIn: async (phone) => messenger.calls.push(`opt in ${phone}`) < 0,
    setAnswer: async (answer) => {
      messenger.calls.push(answer === null ? "no answer" : `answer ${answer}`);
    },
    cancelRun: async (run) => messenger.calls.push(`cancel run ${run}`),
    readState: async (filter) => {
      messenger.filter = filter;
      return messenger.state;
    },
    setPaused: async (paused) => {
      messenger.calls.push(paused ? "pause" : "resume");
      messenger.state = { ...messenger.state, paused };
    },
    requestPairingCode: async (phone) => {
      messenger.calls.push(`pairing code for ${phone}`);
      messenger.state = {
        ...messenger.state,
        connection: { ...messenger.state.connection, code: "K7PX-2QWM" },
      };
      return "K7PX-2QWM";
    },
    unlink: async () => {
      messenger.calls.push("unlink");
      messenger.state = pairing();
      return true;
    },
    logIn: async () => {
      messenger.calls.push("log in");
    },
    ...more,
  });
  return { server, messenger };
};
