import type { Work } from "../functions.ts";
import { answerOf, asAdmin, callEndpoint, type Stage } from "./stage.ts";

const logIn = (stage: Stage) => {
  const { username, password } = stage.city.upstreams.demo;
  const body = JSON.stringify({ username, password });
  return callEndpoint(stage, "employee/login", { contentType: "application/json", body });
};

const refresh = (stage: Stage, token: string) => {
  const body = new URLSearchParams({ grant_type: "refresh_token", refresh_token: token }).toString();
  return callEndpoint(stage, "employee/refresh", { contentType: "application/x-www-form-urlencoded", body });
};

export const login = (stage: Stage): Work => ({
  start: () => logIn(stage),
  async again() {
    const { status, json } = await answerOf(logIn(stage));
    if (status !== 200) return [`the next login: ${status} ${JSON.stringify(json)}`];
    const next = await answerOf(refresh(stage, json.refresh_token));
    return next.status === 200 ? [] : [`the refresh: ${next.status}`];
  },
});

export const renewal = (stage: Stage): Work => {
  let token = "";
  return {
    async prepare() {
      token = (await answerOf(logIn(stage))).json.refresh_token;
    },
    start: () => refresh(stage, token),
    async again() {
      const first = await answerOf(refresh(stage, token));
      if (first.status !== 200) return [`repeated: ${first.status} ${JSON.stringify(first.json)}`];
      const next = await answerOf(refresh(stage, first.json.refresh_token));
      return next.status === 200 ? [] : [`the next one: ${next.status}`];
    },
  };
};

const authorizer = {
  account_id: "an-account",
  scopes: "employee:read employee:ticket",
  expires_at: String(Math.floor(Date.now() / 1_000) + 86_400),
};

export const ticket = (stage: Stage): Work => {
  const { nip, passphrase } = stage.city.upstreams.demo;
  const request = () =>
    callEndpoint(stage, "employee/ticket", {
      query: { user: "servicelogin", username: nip, pass: passphrase },
      authorizer,
    });
  const use = (tiket: string) =>
    callEndpoint(stage, "employee/employees", {
      query: { page: "sso", action: "getDataPegawai", tiket },
      authorizer,
    });
  const countAttempts = () =>
    asAdmin(stage, async (sql) => {
      const [row] = await sql<{ pending: number; failed: number }[]>`
        select count(*) filter (where failed_at is null)::int as pending, count(failed_at)::int as failed
        from employee.attempt`;
      return row ?? { pending: 0, failed: 0 };
    });
  return {
    prepare: () => asAdmin(stage, async (sql) => void (await sql`truncate employee.attempt`)),
    start: request,
    async again() {
      // what is pending expires after a minute, as `throttle.test.ts` shows
      const { pending, failed } = await countAttempts();
      const { status, json } = await answerOf(request());
      if (status !== 200) return [`the next one: ${status} ${JSON.stringify(json)}`];
      const used = await answerOf(use(json.tiket));
      const left = await countAttempts();
      return [
        ...(pending <= 1 && failed === 0 ? [] : [`counted ${pending} pending and ${failed} failed attempts`]),
        ...(used.status === 200 ? [] : [`the ticket's use: ${used.status} ${JSON.stringify(used.json)}`]),
        ...(left.pending === pending ? [] : [`the next one left ${left.pending - pending} attempts`]),
      ];
    },
  };
};
