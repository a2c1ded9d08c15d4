import { buffer } from "node:stream/consumers";
import { guardConnector } from "#lib/channels/address-guard.ts";
import { type Download, openDownload } from "#lib/messenger/accept/download.ts";

/** Resolves every name to this machine and allows its address. */
export const loopback = guardConnector({
  policy: (address) => (address === "127.0.0.1" ? undefined : "The test reaches loopback alone"),
  resolve: async () => [{ address: "127.0.0.1", family: 4 }],
});

type Options = Partial<Parameters<typeof openDownload>[1]>;

export const openLoopback = (url: string, options: Options = {}): Promise<Download> =>
  openDownload(url, { maxBytes: 1024 * 1024, connector: loopback, ...options });

export const download = async (url: string, options: Options = {}): Promise<Buffer> =>
  buffer((await openLoopback(url, options)).body);
