import { once } from "node:events";
import { createServer } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { ChannelFailure, Unsendable } from "#lib/channels/channel.ts";
import { findRejection } from "#lib/channels/codes.ts";
import { AccountRejected } from "#lib/channels/request-link.ts";
import { judge } from "#lib/channels/sms/codes.ts";
import { type SmsSettings, smsSchema } from "#lib/channels/sms/settings.ts";
import { listen, startDeafServer } from "../../steps/http-server.ts";
import { message, openChannel } from "./channel-steps.ts";
import { type DialectName, dialects, settingsOf } from "./dialects.ts";
import { type FailureMode, startGateway } from "./gateway.ts";

const reportUrl = "https://messages.city.example/webhooks/sms/kota?token=x";
const names = Object.keys(dialects) as DialectName[];

/** A gateway, and a channel to it that is open. */
const start = async (
  name: DialectName,
  failureMode?: Parameters<typeof startGateway>[1],
  options?: Parameters<typeof openChannel>[1],
) => {
  const gateway = await startGateway(dialects[name], failureMode);
  let settings = settingsOf(dialects[name], gateway.url, reportUrl);
  const opened = await openChannel(async () => settings, options).open();
  const change = (more: Partial<SmsSettings>) => {
    settings = { ...settings, ...more };
  };
  return { ...opened, gateway, change };
};

const failureOf = async (sent: Promise<unknown>): Promise<ChannelFailure> => {
  const error = await sent.then(
    () => expect.fail("it was answered"),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ChannelFailure);
  return error as ChannelFailure;
};

describe.each(names)("of %s", (name) => {
  const dialect = dialects[name];

  test("an accepted text arrives once, as it was written, with the gateway's reference", async () => {
    const { deliver, gateway } = await start(name);
    const text = 'Antrean {id} & {text}: "A-12"\n100% = $& $1 \\ é ы 😀';
    const outcome = await deliver(message(text));
    expect(gateway.textsTo("6281234567890")).toEqual([text]);
    const reference = { reference: gateway.taken[0]?.reference };
    expect(outcome).toEqual({ outcome: "acked", ...(dialect.reference === "none" ? {} : reference) });
    expect(gateway.asked).toHaveLength(1);
  });

  test("a rejected message has the code by which it is looked up, and is not sent again", async () => {
    const { deliver, gateway, channel } = await start(name, () => "rejects");
    expect(await deliver(message("x"))).toEqual({ outcome: "rejected", code: dialect.rejection });
    expect(findRejection("sms", dialect.rejection).action).toBe("fail");
    expect([gateway.asked.length, channel.isOpen()]).toEqual([1, true]);
  });

  test("a gateway that is asked too fast slows the account down", async () => {
    const { deliver } = await start(name, () => "throttles");
    expect(await deliver(message("x"))).toEqual({ outcome: "rejected", code: "429" });
    expect(findRejection("sms", "429").action).toBe("slow-down");
  });

  test("a rejected key stops the account until the settings change, and the message waits", async () => {
    const { deliver, gateway, channel, check, held, until, change } = await start(name);
    gateway.rotate("another");
    expect(await failureOf(deliver(message("x")))).toMatchObject({ mayHaveLeft: false });
    expect(channel.isOpen()).toBe(false);
    await until("stopped");
    expect(held).toHaveLength(1);
    await expect(check()).rejects.toBeInstanceOf(AccountRejected);
    change({ headers: { authorization: "another" } });
    expect(await check()).toBe(settingsOf(dialect, gateway.url, reportUrl).from);
    expect(gateway.taken).toEqual([]);
  });

  test.each<FailureMode>(["fails-after-it-accepted", "resets-after", "truncates"])(
    "a text is taken by a gateway that %s: it may have left, and goes out once",
    async (failureMode) => {
      const { deliver, gateway, channel } = await start(name, () => failureMode, { timeoutMs: 2_000 });
      expect(await failureOf(deliver(message("x")))).toMatchObject({ mayHaveLeft: true });
      expect(gateway.taken).toHaveLength(1);
      expect(gateway.asked).toHaveLength(1);
      expect(channel.isOpen()).toBe(false);
    },
  );

  test.each<FailureMode>(["fails", "resets-before", "redirects", "answers-without-end"])(
    "a gateway that %s may have the text",
    async (failureMode) => {
      const { deliver, gateway } = await start(name, () => failureMode, { timeoutMs: 2_000 });
      expect(await failureOf(deliver(message("x")))).toMatchObject({ mayHaveLeft: true });
      expect(gateway.asked).toHaveLength(1);
    },
  );
});

// at once, because each takes its whole time limit
test.each<FailureMode>(["hangs-after", "hangs-before"])(
  "a gateway of any name that %s may have the text",
  async (failureMode) => {
    const all = names.map(async (name) => {
      const { deliver, gateway, channel } = await start(name, () => failureMode, { timeoutMs: 2_000 });
      expect(await failureOf(deliver(message("x")))).toMatchObject({ mayHaveLeft: true });
      expect(gateway.asked).toHaveLength(1);
      expect(gateway.taken).toHaveLength(failureMode === "hangs-after" ? 1 : 0);
      expect(channel.isOpen()).toBe(false);
    });
    await Promise.all(all);
  },
);

test.each(names.filter((name) => dialects[name].reference !== "none"))(
  "a page of somebody else with status 200 is no acceptance by %s",
  async (name) => {
    for (const failureMode of ["answers-a-page", "answers-an-empty-object"] as const) {
      const { deliver } = await start(name, () => failureMode);
      expect(await failureOf(deliver(message("x")))).toMatchObject({ mayHaveLeft: true });
    }
  },
);

test("neighbouring references beyond 2^53 stay different, and the same one twice is told as it is", async () => {
  const { deliver } = await start("zenziva", (count) => (count === 3 ? "repeats-the-reference" : "accepts"));
  const references = [];
  for (let i = 0; i < 3; i++) references.push((await deliver(message("x"))) as { reference?: string });
  expect(references.map(({ reference }) => reference)).toEqual([
    ...["9007199254740994", "9007199254740995", "9007199254740995"],
  ]);
});

test("a key that was replaced is used for messages that were composed before", async () => {
  const { channel, gateway, change } = await start("vonage");
  const one = message("x");
  const payload = await channel.compose(one, one.phone);
  gateway.rotate("new-secret");
  change({ fields: { api_secret: "new-secret", to: "{phone}", text: "{text}" } });
  expect(await channel.send(payload, one)).toMatchObject({ outcome: "acked" });
  expect(Buffer.from(payload).toString()).toBe("x");
});

test("Kannel is told the alphabet of each text", async () => {
  const { deliver, gateway } = await start("kannel");
  await deliver(message("Halo €"));
  await deliver(message("Привет"));
  expect(gateway.asked.map(({ query }) => query.get("coding"))).toEqual(["0", "2"]);
});

test("a URL keeps its own query", async () => {
  const { deliver, gateway, change } = await start("kannel");
  change({ url: `${gateway.url}/send?route=7` });
  await deliver(message("x"));
  expect(gateway.asked[0]?.query.get("route")).toBe("7");
});

describe("nothing has left, and the account waits for its next check, when the gateway", () => {
  const sendTo = async (url: string, options?: Parameters<typeof openChannel>[1]) => {
    const settings = { ...settingsOf(dialects.twilio, "http://127.0.0.1", reportUrl), url };
    const { deliver, channel } = await openChannel(async () => settings, options).open();
    const failure = await failureOf(deliver(message("x")));
    // with another reason, the sender would take the code of the network for one of its database
    expect(failure).toMatchObject({ mayHaveLeft: false, reason: "not-connected" });
    expect(channel.isOpen()).toBe(false);
  };

  test("is not running", async () => {
    const server = createServer();
    const url = await listen(server);
    server.close();
    await once(server, "close");
    await sendTo(url);
  });

  test("has no DNS record", () => sendTo("http://gateway.invalid"));

  test("accepts no connection", async () => sendTo(await startDeafServer(), { timeoutMs: 300 }));

  test("closes the connection within the TLS handshake", async () => {
    const url = await listen(
      createServer((socket) => void socket.on("error", () => {}).once("data", () => socket.destroy())),
    );
    await sendTo(url.replace("http:", "https:"));
  });

  test("has no certificate that is valid", async () => {
    const url = await listen(createTlsServer({}, (socket) => socket.destroy()));
    await sendTo(url.replace("http:", "https:"));
  });

  test("is in the internal network", () => sendTo("http://127.0.0.1:80", { connector: undefined }));
});

test("an account whose settings cannot be read sends nothing", async () => {
  const gateway = await startGateway(dialects.twilio);
  const good = settingsOf(dialects.twilio, gateway.url, reportUrl);
  let isReadable = true;
  const { deliver, channel } = await openChannel(async () => {
    if (!isReadable) throw new Error("PLANTED");
    return good;
  }).open();
  const one = message("x");
  const payload = await channel.compose(one, one.phone);
  isReadable = false;
  const failures = [await failureOf(channel.send(payload, one)), await failureOf(deliver(one))];
  for (const failure of failures) {
    expect(failure).toMatchObject({ mayHaveLeft: false, reason: "not-connected" });
    expect(failure.message).not.toContain("PLANTED");
  }
  expect([channel.isOpen(), gateway.asked.length]).toEqual([false, 0]);
});

test("an account that is led no longer sends nothing more, and lets a request end that is under way", async () => {
  const { deliver, gateway, end } = await start("twilio");
  const under = deliver(message("x"));
  await gateway.until(() => gateway.taken.length === 1);
  end();
  expect(await under).toMatchObject({ outcome: "acked" });
  expect(await failureOf(deliver(message("y")))).toMatchObject({ mayHaveLeft: false, reason: "aborted" });
  expect(gateway.taken).toHaveLength(1);
});

test.each([
  [400, '{"code":429}', "400"],
  [422, '{"code":"402"}', "422"],
  [400, '{"code":"more than forty characters, which no column takes"}', "400"],
  [400, '{"code":"6281234567890\\nline"}', "400"],
  [400, '{"code":{"__proto__":"x"}}', "400"],
  [404, "", "404"],
  [402, '{"code":"credit"}', "402"],
])("a rejection with status %i and %s has the code %s", (status, text, code) => {
  const settings = settingsOf(dialects.twilio, "http://127.0.0.1", reportUrl);
  expect(judge(settings, { status, text })).toEqual({ outcome: "rejected", code });
});

test.each([
  ["is too long", "x".repeat(256)],
  ["no database stores", "\0"],
  ["is blank", " "],
])("a reference that %s is none: the answer is not the gateway's", (_, sid) => {
  const settings = settingsOf(dialects.twilio, "http://127.0.0.1", reportUrl);
  expect(() => judge(settings, { status: 201, text: JSON.stringify({ sid }) })).toThrow(ChannelFailure);
});

test.each(["constructor", "__proto__", "toString"])(
  "a gateway's word %s is looked up as a word",
  (status) => {
    const settings = settingsOf(dialects.vonage, "http://127.0.0.1", reportUrl);
    const text = JSON.stringify({ messages: [{ status }] });
    expect(judge(settings, { status: 200, text })).toEqual({ outcome: "rejected", code: status });
  },
);

test("no failure contains what was sent, or a key", async () => {
  for (const failureMode of ["fails", "forbids", "resets-after", "truncates"] as const) {
    const { deliver } = await start("vonage", () => failureMode);
    const failure = await failureOf(deliver(message("PLANTED")));
    const shown = `${failure.message} ${JSON.stringify(failure)} ${failure.stack}`;
    for (const secret of ["PLANTED", "vonage-secret", "6281234567890"]) expect(shown).not.toContain(secret);
  }
});

describe("a message that has no form as SMS", () => {
  const compose = async (one: ReturnType<typeof message>, more: Partial<SmsSettings> = {}) => {
    const settings = { ...settingsOf(dialects.twilio, "http://127.0.0.1", reportUrl), ...more };
    const { channel } = openChannel(async () => settings);
    return Buffer.from(await channel.compose(one, one.phone)).toString();
  };

  test.each([
    ["image", undefined, "a picture without a caption cannot be sent as SMS"],
    ["image", " \n", "a picture without a caption cannot be sent as SMS"],
    ["file", undefined, "a file without a caption cannot be sent as SMS"],
    ["text", "a".repeat(613), "the text needs 5 SMS; at most 4 are sent"],
    [
      "text",
      `ы${"a".repeat(268)}`,
      "the text needs 5 SMS, because it has characters beyond the GSM alphabet; at most 4 are sent",
    ],
  ] as const)("a %s fails with its reason", async (kind, text, reason) => {
    const error = await compose(message(text, { kind })).catch((failure: unknown) => failure);
    expect(error).toBeInstanceOf(Unsendable);
    expect((error as Error).message).toBe(reason);
  });

  test("has its caption as text", async () =>
    expect(await compose(message("Bukti", { kind: "image", mediaId: 7 }))).toBe("Bukti"));

  test("a text of as many parts as are allowed is composed", async () => {
    expect(await compose(message("a".repeat(612)))).toHaveLength(612);
    await expect(compose(message("a".repeat(161)), { max_parts: 1 })).rejects.toBeInstanceOf(Unsendable);
    await compose(message(`${"a".repeat(159)}\u2019`), { max_parts: 1 });
  });

  test("an accent that was typed as two characters, and a form's line ends, cost no more than one each", async () =>
    expect(await compose(message("Cafe\u0301\r\nBuka"))).toBe("Caf\u00e9\nBuka"));
});

describe("settings", () => {
  const valid = dialects.twilio.settings("https://gateway.example", reportUrl);
  const isValid = (more: object) => z.safeParse(smsSchema(), { ...valid, ...more }).success;

  test("nest for JSON alone", () => {
    expect(isValid({})).toBe(true);
    expect(isValid({ fields: { to: { number: "{phone}" } } })).toBe(false);
    expect(isValid({ format: "json", fields: { to: { number: "{phone}" } } })).toBe(true);
  });

  test("have a token of at least 32 characters without spaces for reports, or no reports", () => {
    expect(isValid({ reports: { ...valid.reports, token: "short" } })).toBe(false);
    expect(isValid({ reports: { ...valid.reports, token: "two words ".repeat(4).trim() } })).toBe(false);
    expect(isValid({ reports: undefined })).toBe(true);
  });
});
