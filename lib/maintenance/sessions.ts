import type { Step } from "./step.ts";

/** Few at a time, as each takes its refresh tokens with it. */
const most = 100;

/** Takes away employees' sessions that ended more than a day ago. */
export const sessions: Step = {
  name: "employee-sessions",
  async work(sql) {
    const [row] = await sql<{ rows: number }[]>`select employee.expire_sessions(${most}) as rows`;
    const rows = row?.rows ?? 0;
    return { rows, more: rows === most };
  },
};
