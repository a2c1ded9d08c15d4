import { readFileSync } from "node:fs";

/** The processor time of a process in milliseconds: in `stat` as hundredths of a second. */
export const readCpuMs = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
};
