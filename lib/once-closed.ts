import type { ServerResponse } from "node:http";

/** Calls back once the client of a reply has its answer or has gone: also if it went before, while a hook waited. */
export const onceClosed = (raw: ServerResponse, callBack: () => void): void => {
  if (raw.closed) callBack();
  else raw.once("close", callBack);
};
