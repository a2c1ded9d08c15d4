import { existsSync, readFileSync } from "node:fs";

/**
 * The largest memory that a process has had, in bytes; of another process only Linux tells it. On Linux `resourceUsage().maxRSS`
 * of a new process begins with what its parent had, because the kernel keeps the value across `exec`.
 */
export const readPeakBytes = (pid: number | "self" = "self"): number | undefined => {
  const file = `/proc/${pid}/status`;
  if (existsSync(file)) return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(file, "utf8"))?.[1]) * 1024;
  return pid === "self" ? process.resourceUsage().maxRSS * 1024 : undefined;
};
