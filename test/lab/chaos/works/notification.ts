import { randomUUID } from "node:crypto";
import { type RequestedEvent, requestedType } from "#lib/notification/event.ts";
import { startNotify } from "../../../steps/notifying.ts";
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

export const singleNotification = (stage: Stage): Work => {
  let made = 0;
  let event: RequestedEvent;
  const phone = () => `62812${2_000_000 + made}`;
  const run = () => startNotify(stage.city, event);
  return {
    async prepare() {
      made += 1;
      const values = { code: "493817", purpose: "masuk ke Layanan Warga" };
      event = {
        id: randomUUID(),
        "detail-type": requestedType,
        time: new Date().toISOString(),
        detail: { template: "one-time-code", phone: phone(), values },
      };
    },
    start: run,
    async again() {
      const { code, lines } = await run().ended;
      const [messages, [request]] = await asAdmin(stage, async (sql) => [
        await sql<{ id: string }[]>`select id from messaging.message where phone = ${phone()}`,
        await sql`select outcome, message_id from notification.request where id = ${event.id}`,
      ]);
      const wanted = `accepted ${messages[0]?.id}`;
      const found = `${request?.outcome} ${request?.message_id}`;
      return [
        ...(code === 0 ? [] : [lines.join("; ")]),
        ...(messages.length === 1 ? [] : [`${messages.length} messages`]),
        ...(found === wanted ? [] : [`recorded as ${found}, not ${wanted}`]),
      ];
    },
  };
};
