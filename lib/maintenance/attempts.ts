import type { Step } from "./step.ts";

const most = 5_000;

/** Takes away what is kept of logins and tickets that failed more than a day ago. */
export const attempts: Step = {
  name: "employee-attempts",
  async work(sql) {
    const [row] = await sql<{ rows: number }[]>`select employee.expire_attempts(${most}) as rows`;
    const rows = row?.rows ?? 0;
    return { rows, more: rows === most };
  },
};
