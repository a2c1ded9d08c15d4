import type { WASocket } from "baileys";

/**
 * Queries a recipient's devices and their keys, in place of the cached ones. New Signal sessions replace those with the old keys.
 */
export const refreshRecipient = async (socket: WASocket, jid: string): Promise<void> => {
  const lid = await socket.signalRepository.lidMapping.getLIDForPN(jid);
  // one by one: the devices of each address are cached separately
  for (const address of lid ? [jid, lid] : [jid]) {
    const devices = await socket.getUSyncDevices([address], false, false);
    if (devices.length > 0)
      await socket.assertSessions(
        devices.map((device) => device.jid),
        true,
      );
  }
};
