import type { BusSettings } from "#lib/messenger/callback/bus.ts";

/** Of a task whose test has no event bus: nothing listens there. */
export const noBuses: BusSettings = {
  ...{ url: "http://127.0.0.1:1", region: "local" },
  credentials: { accessKeyId: "local", secretAccessKey: "local" },
};
