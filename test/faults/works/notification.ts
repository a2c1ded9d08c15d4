import { startNotify } from "../../steps/notifying.ts";
import type { Work } from "../functions.ts";
import { judgeRun, prepareRun } from "../notification.ts";
import { asAdmin, type Stage } from "./stage.ts";

/** Two batches. */
const recipients = 250;

export const notification = (stage: Stage): Work => {
  let event: unknown;
  const run = () => startNotify(stage.city, event);
  return {
    async prepare() {
      ({ event } = await asAdmin(stage, (sql) => prepareRun(stage.city, sql, recipients)));
    },
    start: run,
    async again() {
      const { code, lines } = await run().ended;
      const { wrongs } = await asAdmin(stage, judgeRun);
      return [...(code === 0 ? [] : [lines.join("; ")]), ...wrongs];
    },
  };
};
