import type { Step } from "./step.ts";

const most = 5_000;

/** Takes away what is kept of notifications from more than a month ago. */
export const notifications: Step = {
  name: "notifications",
  async work(sql) {
    const [row] = await sql<{ rows: number }[]>`select notification.expire(${most}) as rows`;
    const rows = row?.rows ?? 0;
    return { rows, more: rows === most };
  },
};
