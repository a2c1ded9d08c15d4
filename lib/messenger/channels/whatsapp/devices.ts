import { isLidUser, jidDecode, type UserFacingSocketConfig, type WASocket } from "baileys";
import { steadyNow } from "#lib/steady-clock.ts";
import { firstAddress } from "./address.ts";

type DeviceCache = NonNullable<UserFacingSocketConfig["userDevicesCache"]>;

/** As long as in baileys' own cache: it applies notifications of changed devices to numbers only, not to their LIDs. */
const maxAgeMs = 5 * 60_000;
const maxUsers = 4_000;

/** Caches the devices of the users that were sent to last, so that they can be sent to while the directory fails. */
export const cacheDevices = (): DeviceCache => {
  const known = new Map<string, { readonly devices: unknown; readonly until: number }>();
  return {
    get: <T>(user: string) => {
      const entry = known.get(user);
      return entry && steadyNow() < entry.until ? (entry.devices as T) : undefined;
    },
    set: (user: string, devices: unknown) => {
      known.delete(user);
      const [oldest] = known.keys();
      if (known.size >= maxUsers && oldest !== undefined) known.delete(oldest);
      known.set(user, { devices, until: steadyNow() + maxAgeMs });
    },
    del: (user: string) => void known.delete(user),
    flushAll: () => known.clear(),
  };
};

/** Whether baileys can send to a number without a query for devices. */
export const knowsDevices = async (socket: WASocket, cache: DeviceCache, jid: string): Promise<boolean> => {
  const address = await firstAddress(socket, jid);
  const { id = "", lid = id } = socket.authState.creds.me ?? {};
  const users = [address, isLidUser(address) ? lid : id].map((each) => jidDecode(each)?.user ?? "");
  const devices = await Promise.all(users.map((user) => cache.get(user)));
  return devices.every((found) => found !== undefined);
};
