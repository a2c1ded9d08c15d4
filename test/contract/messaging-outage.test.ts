import { expect, test } from "vitest";
import { useOwnCity } from "../steps/city/own-city.ts";
import { formOf, messagingClient } from "../steps/messaging.ts";

// nobody listens on port 1
const own = useOwnCity(() => ({ messenger: { url: "http://127.0.0.1:1" } }));
const client = () => messagingClient(own.city.messagingBaseUrl, own.city.basic);
const phone = "6281234567890";
const asks = {
  "a text": (to: string) => client().sendMessage({ phone: to, message: "PLANTED" }),
  "an image": (to: string) =>
    client().sendForm("image", formOf({ phone: to, image_url: "https://example.com/PLANTED" })),
  "a file": (to: string) => client().sendForm("file", formOf({ phone: to, file: Buffer.from("PLANTED") })),
};

test.each(Object.entries(asks))(
  "without a messenger, %s gets 503, and nothing is accepted",
  async (_, ask) => {
    const { status, headers, json } = await ask(phone);
    expect([status, json]).toEqual([
      503,
      {
        status: false,
        code: "SESSION_UNAVAILABLE",
        message: "The messaging service is unavailable; the message was not accepted. Send it again.",
      },
    ]);
    expect(headers.get("retry-after")).toBe("5");
  },
);

test("without a messenger, the state of a message is 503", async () => {
  const { status, headers, json } = await client().read("3EB0");
  expect([status, json.code, headers.get("retry-after")]).toEqual([503, "SESSION_UNAVAILABLE", "5"]);
});

test("input is checked first", async () =>
  expect((await client().sendMessage({ phone: "0", message: "x" })).status).toBe(400));

test("each request was tried once, and the log contains the reason without number, text or URL", () => {
  const reasons = own.logged().filter(({ message }) => message === "messenger request failed");
  expect(reasons.map(({ reason }) => reason)).toEqual(Array(4).fill("ECONNREFUSED"));
  expect(own.lines.join("\n")).not.toMatch(/PLANTED|6281234567890|127\.0\.0\.1/);
});
