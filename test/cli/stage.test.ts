import { createServer } from "node:net";
import { expect, inject, test } from "vitest";
import { cityVariablesOf } from "../../infra/aws/stage-names.ts";
import { cityCommand } from "../../infra/cli/stage.ts";
import { callCommand } from "../steps/command.ts";
import { listen } from "../steps/http-server.ts";

/** The first message of a client that wants TLS. https://www.postgresql.org/docs/current/protocol-message-formats.html */
const sslRequest = "0000000804d2162f";

test("sends no name and password to a remote database without TLS", async () => {
  const received: Buffer[] = [];
  const server = createServer((socket) => {
    socket
      .on("error", () => {})
      .on("data", (bytes) => {
        received.push(bytes);
        if (received.length === 1) socket.write("N");
        else socket.destroy();
      });
  });
  const { port } = new URL(await listen(server));
  // leads to this machine, and is none of its names
  const settings = { DATABASE_URL: `postgres://somebody:secret@0.0.0.0:${port}/municipal` };
  const list = await callCommand(() => import("../../infra/cli/partner.ts"), settings, "list");
  const sent = Buffer.concat(received);
  expect([list.status, sent.subarray(0, 8).toString("hex")]).toEqual([1, sslRequest]);
  expect(list.errors).toMatch(/^The server closed the connection in place of encrypting it.*\n$/);
  expect(sent.includes("somebody")).toBe(false);
});

test.each(["postgres", "nowhere"])(
  "the database %s is said to be another one, without a stack",
  async (name) => {
    const url = Object.assign(new URL(inject("city").adminUrl), { pathname: `/${name}` });
    const settings = { DATABASE_URL: url.href };
    for (const line of ["partner list", "residents status"])
      expect(
        await callCommand(() => import("../../infra/cli/city.ts"), settings, ...line.split(" ")),
      ).toMatchObject({
        status: 1,
        errors: expect.stringMatching(
          /^The database is another one, or has the schema of another release: .*\n$/,
        ),
      });
  },
);

test("an address in an advised command is one word for the shell", () => {
  expect(cityCommand("callback", "add", "tax office", "https://x.example/a?b=1&c='2'")).toBe(
    "npm run city -- callback add 'tax office' 'https://x.example/a?b=1&c='\\''2'\\'''",
  );
});

test("a command reads numbers and tells times as the stage does, by what cdk.json says of it or of all stages", () => {
  const context = {
    timeZone: "Asia/Makassar",
    stages: { kota: { timeZone: "Asia/Jayapura", countryCode: "60" } },
  };
  expect(cityVariablesOf("kota", context)).toEqual({ COUNTRY_CODE: "60", TIME_ZONE: "Asia/Jayapura" });
  expect(cityVariablesOf("other", context)).toEqual({ TIME_ZONE: "Asia/Makassar" });
});
