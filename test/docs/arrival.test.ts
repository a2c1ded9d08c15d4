import { expect, test } from "vitest";
import { invented, withAddresses } from "#lib/openapi/addresses.ts";
import { serve } from "../steps/http-server.ts";
import { type Program, programs, runExample, shell } from "./program.ts";
import { getTabs } from "./tabs.ts";

const tabs = getTabs("sending", "arrival");

/** The delays in the examples, and shorter ones; the shell has no limit but the number of its delays. */
const delays: Readonly<Record<string, readonly [RegExp, string]>> = {
  sh: [/sleep \$WAIT/, "sleep 0"],
  ts: [/delayMs = 5_000/, "delayMs = 5"],
  python: [/delay = 5$/m, "delay = 0.005"],
};

/** @returns what the example prints when a message has these states in turn, and how often it has read them. */
const follow = async (program: Program, states: readonly string[], limit?: readonly [RegExp, string]) => {
  let reads = 0;
  const address = await serve((_, response) => {
    const status = states[Math.min(reads++, states.length - 1)];
    if (status === "cut off")
      return void response.writeHead(200, { "Content-Length": 99 }).write("{", () => response.destroy());
    response.end(JSON.stringify({ status: true, data: { id: "3EB0", status, reason: "said" } }));
  });
  const example =
    program === shell ? `MSG=${invented.messaging}\n${tabs.shell}` : tabs.others.get(program.language);
  const addressed = withAddresses(example ?? "", { integration: address, messaging: address });
  const changes = [delays[program.language], limit].filter((change) => change !== undefined);
  const changed = changes.reduce((text, [pattern, value]) => {
    expect(text).toMatch(pattern);
    return text.replace(pattern, value);
  }, addressed);
  const { output } = await runExample(program, changed, { AUTH: "a:b", MESSAGE_ID: "3EB0" });
  return { output, reads };
};

test.each([shell, ...programs])(
  "the example in $language reads the state until the message has arrived",
  async (program) => {
    const states = ["PENDING", "cut off", "SENDING", "UNCERTAIN", "SENT", "DELIVERED"];
    const { output, reads } = await follow(program, states);
    expect([output.split(/\s/)[0], reads]).toEqual(["DELIVERED", states.length]);
  },
);

test.each([shell, ...programs])(
  "the example in $language ends when the message has failed",
  async (program) => {
    for (const state of ["FAILED", "EXPIRED", "CANCELLED"]) {
      const { output, reads } = await follow(program, ["PENDING", state]);
      expect([output.split(/\s/)[0], reads]).toEqual([state, 2]);
    }
  },
);

const limits: Readonly<Record<string, readonly [RegExp, string]>> = {
  ts: [/600_000/, "0"],
  python: [/\+ 600$/m, "+ 0"],
};

test.each([shell, ...programs])(
  "the example in $language shows the last state at its limit",
  async (program) => {
    const { output, reads } = await follow(program, ["SENT"], limits[program.language]);
    expect([output.split(/\s/)[0], reads]).toEqual(["SENT", program === shell ? 12 : 1]);
  },
);
