import { onTestFinished, vi } from "vitest";
import { startSecretsServer } from "../../infra/local/secrets/server.ts";
import { openStore, type SecretStore } from "../../infra/local/secrets/store.ts";

export interface OwnSecrets {
  readonly store: SecretStore;
  readonly url: string;
  /** Stops Secrets Manager. */
  stop(): Promise<void>;
}

/**
 * A Secrets Manager for the next imports of the product, until the test ends.
 *
 * @param settings the environment variables that name its secrets.
 */
export const startSecrets = async (settings: Readonly<Record<string, string>>): Promise<OwnSecrets> => {
  vi.resetModules();
  const store = openStore(undefined);
  const server = await startSecretsServer(store);
  for (const [variable, value] of Object.entries({
    AWS_REGION: "local",
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_SECRETS_MANAGER: server.url,
    LOG_LEVEL: "error",
    ...settings,
  }))
    vi.stubEnv(variable, value);
  let running = true;
  const stop = async () => {
    if (running) await server.stop();
    running = false;
  };
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await stop();
  });
  return { store, url: server.url, stop };
};

/** A stopped clock that `pass` advances, until the test ends. */
export const stopClock = () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  return { pass: (ms: number) => void vi.setSystemTime(Date.now() + ms) };
};
