import { throttled } from "#lib/employee/attempt.ts";
import { continueSession, startSession } from "#lib/employee/session.ts";
import { digestTerm } from "#lib/secrets/pepper.ts";
import type { Ground, Measurable } from "./groups.ts";

/** The statements of logins, without the old system that they ask. */
export async function* employeeCases({ owner }: Ground): AsyncGenerator<Measurable> {
  const from = (turn: number) => ({ name: `user-${turn}`, address: `10.${turn % 200}.7.1` });
  yield { name: "employees: attempt that passes", run: (turn) => throttled(from(turn), async () => true) };
  yield {
    name: "employees: attempt that fails",
    run: (turn) => throttled(from(turn), async () => undefined),
  };
  const { digest } = await digestTerm();
  const name = digest("user");
  let token = "";
  yield {
    name: "employees: start a session",
    run: async (turn) => {
      const started = await startSession({ id: `bench-${turn}`, scopes: ["employee:read"] }, name);
      token = started.refresh_token;
    },
  };
  const client = { address: "10.0.0.1", userAgent: "bench" };
  yield {
    name: "employees: refresh a session",
    // it would ask the old system again after a minute
    before: () =>
      owner`update employee.session set asked_at = clock_timestamp() where account_id like 'bench-%'`,
    run: async () => {
      token = (await continueSession(token, client)).refresh_token;
    },
  };
}
