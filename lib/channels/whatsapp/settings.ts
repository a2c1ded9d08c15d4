import type { ReconnectionOptions } from "./link/reconnection.ts";

/** How to reach the platform; by default the real WhatsApp. */
export interface WhatsAppSettings {
  /** Another WebSocket address, such as the fake platform's. */
  readonly url?: string;
  /** The key that signs that server's certificate, in place of WhatsApp's. Applies to the whole process. */
  readonly rootKey?: Uint8Array;
  /** PEM of the certificate authority of that platform's media servers. */
  readonly mediaCa?: string;
  /** The version of the web client to announce; by default the library's. */
  readonly webVersion?: string | undefined;
  /** The page that names the current version, read after a 405 only. */
  readonly versionUrl?: string | undefined;
  /** Whether pairing starts by itself after the platform has removed the link, as simulated platforms do. */
  readonly pairsByItself?: boolean;
  readonly answerTimeoutMs?: number;
  readonly reconnection?: ReconnectionOptions;
  /** How long the leader waits before it reclaims a connection that another program has replaced. Default: 10 s. */
  readonly reclaimMs?: number;
}
