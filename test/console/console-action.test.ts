import { describe, expect, test } from "vitest";
import { ApiError } from "#lib/errors/api-error.ts";
import { openLoggedIn, ownPage } from "./console-browser.ts";

describe("an action", () => {
  test.each<[string, Record<string, string>, string[], string]>([
    ["/pause", {}, ["pause"], "Sending paused."],
    ["/resume", {}, ["resume"], "Sending resumed."],
    [
      "/pairing-code",
      { phone: "+62 (812) 3456-7890" },
      ["pairing code for 6281234567890"],
      "Pairing code: K7PX-2QWM.",
    ],
    [
      "/pairing-code",
      { phone: "0812-3456-7890" },
      ["pairing code for 6281234567890"],
      "Pairing code: K7PX-2QWM.",
    ],
    ["/pairing-code", { phone: "12" }, [], "Invalid phone number"],
    ["/pairing-code", {}, [], "Invalid phone number"],
    ["/unlink", { confirmation: " Unlink" }, ["unlink"], "Phone unlinked."],
    ["/unlink", { confirmation: "yes" }, [], "The phone was not unlinked"],
    ["/log-in", {}, ["log in"], "Connecting to WhatsApp."],
    ["/unlink", {}, [], "The phone was not unlinked"],
  ])("%s with %j performs %j and shows the result", async (path, fields, calls, notice) => {
    const { post, get, messenger } = await openLoggedIn();
    const { statusCode, headers } = await post(path, fields);
    expect([statusCode, headers.location, messenger.calls]).toEqual([303, "/console", calls]);
    expect((await get()).body).toContain(notice);
  });

  test("/unlink that WhatsApp does not confirm says what to do on the phone", async () => {
    const { post, get } = await openLoggedIn({ unlink: async () => false });
    await post("/unlink", { confirmation: "unlink" });
    expect((await get()).body).toContain(
      "if the phone still lists the device under Linked devices, remove it there.",
    );
  });

  test("that is rejected shows the reason", async () => {
    const { post, get } = await openLoggedIn({
      requestPairingCode: async () => {
        throw new ApiError({ status: 409, code: "conflict", message: "A phone is linked already." });
      },
    });
    await post("/pairing-code", { phone: "6281234567890" });
    expect((await get()).body).toContain("A phone is linked already.");
  });

  test.each([
    ["/pause", "the database is not responding"],
    ["/resume", "the database is not responding"],
    ["/pairing-code", "WhatsApp returned no pairing code"],
    ["/unlink", "WhatsApp or the database is not responding"],
  ])("%s that fails names the unavailable component without details of the error", async (path, said) => {
    const fail = async () => {
      throw new Error("password authentication failed for 10.1.2.3");
    };
    const { post, get } = await openLoggedIn({ setPaused: fail, requestPairingCode: fail, unlink: fail });
    await post(path, { phone: "6281234567890", confirmation: "unlink" });
    const { body } = await get();
    expect(body).toContain(said);
    expect(body).not.toContain("10.1.2.3");
  });

  test("requires a form", async () => {
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
