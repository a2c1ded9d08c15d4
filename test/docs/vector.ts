import { readBlocks, readGuideText } from "../steps/shell-lines.ts";

/** Reads the signed callback of the guide to sending, as its shell block exports it. */
export const readSignedEvent = () => {
  const block = readBlocks(readGuideText("en", "sending")).find(({ text }) =>
    text.includes("export SECRET="),
  );
  const get = (name: string): string => {
    const value = new RegExp(`^export ${name}=(.*)$`, "m").exec(block?.text ?? "")?.[1];
    if (!value) throw new Error(`the guide to sending exports no ${name}`);
    return value.replace(/^'(.*)'$/, "$1");
  };
  return {
    SECRET: get("SECRET"),
    WEBHOOK_ID: get("WEBHOOK_ID"),
    WEBHOOK_TIMESTAMP: get("WEBHOOK_TIMESTAMP"),
    WEBHOOK_SIGNATURE: get("WEBHOOK_SIGNATURE"),
    BODY: get("BODY"),
  };
};
