import { afterAll, beforeAll, beforeEach } from "vitest";
import { messagingClient } from "./messaging.ts";
import { type PlayedTask, playTask } from "./messenger-task.ts";
import { type OwnCity, useOwnCity } from "./own-city.ts";

interface MessagingCity {
  readonly own: OwnCity;
  readonly task: PlayedTask;
  readonly client: ReturnType<typeof messagingClient>;
}

/** A city for one test file whose messenger is played; before each test it takes whatever comes. */
export const useMessagingCity = (): MessagingCity => {
  let task: PlayedTask;
  let client: MessagingCity["client"];
  beforeAll(async () => {
    task = await playTask();
  });
  const own = useOwnCity(() => ({ messenger: { url: task.url } }));
  beforeAll(() => {
    client = messagingClient(own.city.messagingBaseUrl, own.city.basic);
  });
  beforeEach(() => task.behave());
  afterAll(() => task.stop());
  return {
    own,
    get task() {
      return task;
    },
    get client() {
      return client;
    },
  };
};
