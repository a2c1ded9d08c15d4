import { Agent } from "node:https";
import {
  type AuthenticationState,
  type ConnectionState,
  initAuthCreds,
  makeWASocket,
  type UserFacingSocketConfig,
  WA_CERT_DETAILS,
  type WASocket,
} from "baileys";
import { onTestFinished } from "vitest";
import { createKeyStore, silent } from "../../../infra/local/whatsapp/keys.ts";
import { type Platform, startPlatform } from "../../../infra/local/whatsapp/platform.ts";

export const citizen = "6281234567890";

/** Runs a platform until the test ends. */
export const runPlatform = async (): Promise<Platform> => {
  const platform = await startPlatform({ phones: [citizen] });
  onTestFinished(() => platform.stop());
  return platform;
};

/** The stored state of a client. */
export const createState = (): AuthenticationState => ({ creds: initAuthCreds(), keys: createKeyStore() });

type Update = Partial<ConnectionState>;

/** The next change of a connection that is as wanted. */
export const awaitUpdate = (socket: WASocket, wanted: (update: Update) => boolean): Promise<Update> =>
  new Promise((resolve) => {
    const look = (update: Update) => {
      if (!wanted(update)) return;
      socket.ev.off("connection.update", look);
      resolve(update);
    };
    socket.ev.on("connection.update", look);
  });

/** @returns the code that the connection closes with. */
export const awaitClose = async (socket: WASocket): Promise<number | undefined> => {
  const { lastDisconnect } = await awaitUpdate(socket, ({ connection }) => connection === "close");
  const fault = lastDisconnect?.error as { output?: { statusCode: number } } | undefined;
  return fault?.output?.statusCode;
};

/** A real client of this platform. */
export const connect = (
  platform: Platform,
  state: AuthenticationState,
  config: Partial<UserFacingSocketConfig> = {},
): WASocket => {
  WA_CERT_DETAILS.PUBLIC_KEY = platform.rootKey;
  const socket = makeWASocket({
    auth: state,
    waWebSocketUrl: platform.url,
    logger: silent,
    fetchAgent: new Agent({ ca: platform.mediaCa }),
    syncFullHistory: false,
    shouldSyncHistoryMessage: () => false,
    markOnlineOnConnect: false,
    // the client merges a state that comes fast into its own event of the message, and then tells of none
    emitOwnEvents: false,
    ...config,
  });
  socket.ev.on("creds.update", (update) => Object.assign(state.creds, update));
  onTestFinished(() => socket.end(undefined));
  return socket;
};

/** A client of this platform that has logged in. */
export const logIn = async (
  platform: Platform,
  state: AuthenticationState,
  config?: Partial<UserFacingSocketConfig>,
): Promise<WASocket> => {
  const socket = connect(platform, state, config);
  await awaitUpdate(socket, ({ connection }) => connection === "open");
  return socket;
};

/** Pairs a new client by QR code. @returns its state to store. */
export const pair = async (platform: Platform): Promise<AuthenticationState> => {
  const state = createState();
  const socket = connect(platform, state);
  const closed = awaitClose(socket);
  const { qr = "" } = await awaitUpdate(socket, (update) => update.qr !== undefined);
  await platform.scan(qr);
  await closed;
  return state;
};

/** A platform with a client that is paired and logged in. */
export const runPaired = async (config?: Partial<UserFacingSocketConfig>) => {
  const platform = await runPlatform();
  const state = await pair(platform);
  return { platform, state, socket: await logIn(platform, state, config) };
};
