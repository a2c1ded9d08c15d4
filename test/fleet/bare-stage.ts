import type { TaskOptions } from "#lib/messenger/task.ts";

/** What a stage has besides WhatsApp: no event bus, where nothing listens, and no other channel. */
export const bareStage: Pick<TaskOptions, "buses" | "findSettings"> = {
  buses: {
    ...{ url: "http://127.0.0.1:1", region: "local" },
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  },
  findSettings: async () => Promise.reject(new Error("no settings")),
};
