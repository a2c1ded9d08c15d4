import { type Platform, startPlatform } from "../whatsapp/platform.ts";
import { keepPaired } from "./pairing.ts";
import { type MessengerProcess, startMessengerProcess } from "./process.ts";

/** The number that the imitated phone answers to. */
export const demoPhone = "6281200000001";

export interface LocalMessengerOptions {
  /** Settings of every function: where secrets and database are. */
  readonly variables: Readonly<Record<string, string>>;
  /** What opens the task for the send endpoints. */
  readonly token: string;
  /** `real` pairs a real phone, by the console. */
  readonly platform: "fake" | "real";
  readonly port: number;
  readonly onLine: (line: string) => void;
}

/** The messenger with the platform that it talks to. */
export interface LocalMessenger {
  readonly url: string;
  /** The imitated platform; none when the real one is used. */
  readonly platform: Platform | undefined;
  readonly process: MessengerProcess;
  stop(): Promise<void>;
}

const settingsOf = ({ url, rootKey, mediaCa }: Platform) => ({
  PLATFORM_URL: url,
  PLATFORM_ROOT_KEY: rootKey.toString("base64"),
  PLATFORM_MEDIA_CA: mediaCa,
  MESSENGER_PACE: "off",
});

/** Every number has an account on the imitated platform, but for those that end in 0000. */
const isRegistered = (number: string) => !number.endsWith("0000");

/** Starts the messenger, and unless a real phone is to be paired, the platform with a phone that is. */
export const startMessenger = async (options: LocalMessengerOptions): Promise<LocalMessenger> => {
  const { variables, token, port, onLine } = options;
  const platform =
    options.platform === "fake" ? await startPlatform({ phones: [demoPhone], isRegistered }) : undefined;
  const ending = new AbortController();
  const all = {
    ...variables,
    MESSENGER_HOST: "127.0.0.1",
    MESSENGER_PORT: String(port),
    LOG_LEVEL: "info",
    ...(platform && settingsOf(platform)),
  };
  try {
    const process = await startMessengerProcess(all, onLine);
    const pairing = platform && keepPaired(platform, { url: process.url, token }, ending.signal);
    return {
      url: process.url,
      platform,
      process,
      async stop() {
        ending.abort();
        await pairing;
        await process.stop();
        await platform?.stop();
      },
    };
  } catch (error) {
    await platform?.stop();
    throw error;
  }
};
