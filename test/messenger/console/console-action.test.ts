import { describe, expect, test } from "vitest";
import { Fault } from "#lib/faults/fault.ts";
import { openLoggedIn, ownPage } from "./console-browser.ts";

describe("an action", () => {
  test.each<[string, Record<string, string>, string[], string]>([
    ["/pause", {}, ["pause"], "Sending is paused."],
    ["/resume", {}, ["resume"], "Sending is resumed."],
    [
      "/pairing-code",
      { phone: "+62 (812) 3456-7890" },
      ["pairing code for 6281234567890"],
      "The pairing code is K7PX-2QWM.",
    ],
    ["/pairing-code", { phone: "0812345678" }, [], "That is not a phone number"],
    ["/pairing-code", {}, [], "That is not a phone number"],
    ["/unlink", { confirmation: " Unlink" }, ["unlink"], "The phone is unlinked."],
    ["/unlink", { confirmation: "yes" }, [], "Nothing was unlinked"],
    ["/unlink", {}, [], "Nothing was unlinked"],
  ])("%s with %j does %j and says what came of it", async (path, fields, calls, notice) => {
    const { post, get, messenger } = await openLoggedIn();
    const { statusCode, headers } = await post(path, fields);
    expect([statusCode, headers.location, messenger.calls]).toEqual([303, "/console", calls]);
    expect((await get()).body).toContain(notice);
  });

  test("that is refused says why", async () => {
    const { post, get } = await openLoggedIn({
      requestPairingCode: async () => {
        throw new Fault({ status: 409, code: "conflict", message: "A phone is linked already." });
      },
    });
    await post("/pairing-code", { phone: "6281234567890" });
    expect((await get()).body).toContain("A phone is linked already.");
  });

  test.each([
    ["/pause", "the database does not answer"],
    ["/resume", "the database does not answer"],
    ["/pairing-code", "WhatsApp gave no pairing code"],
    ["/unlink", "WhatsApp or the database does not answer"],
  ])("%s that fails names the part that is away, and nothing of the error", async (path, said) => {
    const fail = async () => {
      throw new Error("password authentication failed for 10.1.2.3");
    };
    const { post, get } = await openLoggedIn({ setPaused: fail, requestPairingCode: fail, unlink: fail });
    await post(path, { phone: "6281234567890", confirmation: "unlink" });
    const { body } = await get();
    expect(body).toContain(said);
    expect(body).not.toContain("10.1.2.3");
  });

  test("wants a form", async () => {
    const { server, browser, messenger } = await openLoggedIn();
    const headers = { ...ownPage, cookie: browser.cookie, "content-type": "application/json" };
    const { statusCode } = await server.inject({
      method: "POST",
      url: "/console/unlink",
      headers,
      payload: '{"confirmation":"unlink"}',
    });
    expect([statusCode, messenger.calls]).toEqual([415, []]);
    const { statusCode: tooLarge } = await server.inject({
      method: "POST",
      url: "/console/unlink",
      headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
      payload: `confirmation=unlink&more=${"x".repeat(5_000)}`,
    });
    expect([tooLarge, messenger.calls]).toEqual([413, []]);
  });
});
