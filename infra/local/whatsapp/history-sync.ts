import { deflateSync } from "node:zlib";
import { proto } from "baileys";

/** Creates the message with which the account's phone sends history to a linked device, with the history in it. */
export const historySync = (history: proto.IHistorySync): proto.IMessage => {
  const { syncType = proto.HistorySync.HistorySyncType.RECENT, chunkOrder = 1, progress = 100 } = history;
  const encoded = proto.HistorySync.encode({ ...history, syncType, progress }).finish();
  return {
    protocolMessage: {
      type: proto.Message.ProtocolMessage.Type.HISTORY_SYNC_NOTIFICATION,
      historySyncNotification: {
        syncType: syncType as number,
        chunkOrder,
        progress,
        initialHistBootstrapInlinePayload: deflateSync(encoded),
      },
    },
  };
};
