import { afterAll, beforeAll, beforeEach } from "vitest";
import { type FakeMessenger, startFakeMessenger } from "../fake-messenger.ts";
import { messagingClient } from "../messaging.ts";
import { type OwnCity, useOwnCity } from "./own-city.ts";

interface MessagingCity {
  readonly own: OwnCity;
  readonly task: FakeMessenger;
  readonly client: ReturnType<typeof messagingClient>;
}

/** A city for one test file with a fake messenger, which accepts everything at the start of each test. */
export const useMessagingCity = (): MessagingCity => {
  let task: FakeMessenger;
  let client: MessagingCity["client"];
  beforeAll(async () => {
    task = await startFakeMessenger();
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
