import { existsSync, globSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { describe, expect, test } from "vitest";
import * as z from "zod/mini";
import { advisoryLocks } from "#lib/db/advisory-locks.ts";
import { authorizers, routes } from "#lib/routes/index.ts";
import { internalFunctions } from "#lib/routes/internal.ts";
import { listFunctions } from "../infra/build/build.ts";

/** What each folder may import besides packages. Functions do not import each other: each is another Lambda. */
const mayImport: Record<string, readonly string[]> = {
  lib: ["lib"],
  functions: ["lib"],
  infra: ["infra", "lib"],
  test: ["test", "lib", "functions", "infra"],
};
/** What functions read of a channel. */
const channelReading = "channels/{accounts,settings,{cloud-api,sms}/{settings,webhook},sms/fields}.ts";

/**
 * The rooms of `lib`, and what each may import besides itself and the files beside the rooms. A room imports only rooms above it:
 * there is no circle. A folder without a row belongs to the room around it.
 */
const rooms: Record<string, readonly string[]> = {
  lib: [],
  "lib/errors": [],
  "lib/import": [],
  "lib/secrets": [],
  "lib/db": ["errors", "secrets"],
  "lib/messaging": ["errors", "secrets"],
  [`lib/${channelReading}`]: ["errors", "messaging", "secrets"],
  "lib/secrets/table": [channelReading, "db", "secrets"],
  "lib/routes": ["errors", "messaging", "secrets/table"],
  "lib/http": ["errors", "routes"],
  "lib/employee": ["db", "errors", "http", "routes", "secrets"],
  "lib/partner": ["db", "http", "routes"],
  "lib/sender": ["db", "messaging", "secrets"],
  "lib/resident": ["db", "errors", "http", "import", "routes", "secrets"],
  "lib/tourism": ["db", "import", "routes"],
  "lib/notification": ["db", "errors", "import", "messaging", "secrets"],
  "lib/maintenance": ["db", "resident", "secrets"],
  "lib/openapi": ["errors", "http", "messaging", "routes"],
  "lib/docs": ["openapi", "routes"],
  "lib/messenger/outbox": ["errors", "messaging", "secrets"],
  "lib/messenger/account": ["db", "messaging", "messenger/outbox"],
  "lib/channels": [channelReading, "db", "errors", "messaging", "messenger/account", "messenger/outbox"],
  "lib/messenger/callback": ["channels", "messaging", "messenger/outbox"],
  "lib/console": [
    ...["channels", "db", "errors", "import", "messaging", "notification", "sender"],
    ...["messenger/account", "messenger/callback", "messenger/outbox"],
  ],
  "lib/messenger": [
    ...["channels", channelReading, "console", "db", "errors", "messaging", "notification", "secrets"],
    ...["messenger/account", "messenger/callback", "messenger/outbox"],
  ],
};

/** The rooms of `test` that other rooms may import. Each imports only those before it, so that there is no circle. */
const sharedTestRooms = [
  ...["runtime-client", "interpreter", "steps", "contract", "fleet", "channels", "console", "lab-chaos"],
];
/** The room of a test's file: an area, or one tool of the lab. */
const testRoom = (path: string) => path.replace(/^test\/lab\/(?=.+\/)/, "test/lab-").split("/")[1] ?? "";

const importsOf = (file: string) =>
  [...readFileSync(file, "utf8").matchAll(/(?:from |import |import\()"([.#][^"]+)"/g)].map(([, to = ""]) => ({
    file,
    to: to.startsWith("#") ? to.slice(1) : posix.join(posix.dirname(file), to),
  }));
const imports = globSync("{lib,functions,infra,test}/**/*.ts", {
  // the adapters stand beside generated clients, in a temporary folder
  exclude: ["**/node_modules", "test/clients/adapters"],
}).flatMap(importsOf);
const part = (path: string, index: number) => path.split("/")[index] ?? "";

describe("dependencies", () => {
  test("are found at all, and lead to files", () => {
    expect(imports.length).toBeGreaterThan(100);
    expect(imports.filter(({ to }) => !existsSync(to))).toEqual([]);
  });

  test("go from functions, infra and tests to lib, and never to functions", () =>
    expect(imports.filter(({ file, to }) => !mayImport[part(file, 0)]?.includes(part(to, 0)))).toEqual([]));

  test("of a room lead only to rooms that it may import, and each folder belongs to a room", () => {
    const order = Object.keys(rooms);
    const nested = order.toSorted((one, other) => other.length - one.length);
    const roomOf = (path: string) =>
      nested.find((room) => path.startsWith(`${room}/`) || posix.matchesGlob(path, room)) ?? "";
    const within = imports.filter(({ file, to }) => part(file, 0) === "lib" && part(to, 0) === "lib");
    const crossing = within.filter(({ file, to }) => roomOf(file) !== roomOf(to) && roomOf(to) !== "lib");
    expect(
      crossing.filter(({ file, to }) => !rooms[roomOf(file)]?.includes(roomOf(to).replace("lib/", ""))),
    ).toEqual([]);
    expect(within.filter(({ file }) => roomOf(file) === "lib" && file.split("/").length > 2)).toEqual([]);
    for (const [room, allowed] of Object.entries(rooms)) {
      const places = allowed.map((other) => order.indexOf(`lib/${other}`));
      expect(places.filter((place) => place < 0 || place >= order.indexOf(room))).toEqual([]);
    }
  });

  test("of the messenger's rooms are made by the messenger alone, so that no Lambda bundles them", () => {
    const isInside = (path: string) =>
      /^lib\/(messenger|channels|console)\//.test(path) && !posix.matchesGlob(path, `lib/${channelReading}`);
    const outside = imports.filter(({ file, to }) => isInside(to) && !isInside(file));
    const importers = outside.filter(({ file }) => /^(lib|functions)\//.test(file)).map(({ file }) => file);
    expect([...new Set(importers)]).toEqual(["functions/messenger.ts"]);
  });

  test("of Baileys stand in WhatsApp's room alone", () => {
    const users = globSync("lib/**/*.ts").filter((file) => readFileSync(file, "utf8").includes('"baileys"'));
    expect(users.filter((file) => !file.startsWith("lib/channels/whatsapp/"))).toEqual([]);
  });

  test("between rooms of tests lead only to shared rooms, in one direction", () => {
    const within = imports.filter(({ file, to }) => part(file, 0) === "test" && part(to, 0) === "test");
    // the tools of the lab are listed in one file, which nothing imports
    const crossing = within.filter(
      ({ file, to }) => testRoom(file) !== testRoom(to) && testRoom(file) !== "lab",
    );
    const place = (path: string) => sharedTestRooms.indexOf(testRoom(path));
    expect(crossing.length).toBeGreaterThan(100);
    expect(crossing.filter(({ to }) => place(to) < 0)).toEqual([]);
    expect(crossing.filter(({ file, to }) => place(file) >= 0 && place(file) <= place(to))).toEqual([]);
  });

  test("of a function are its own area's rows, not the whole route table", () => {
    const whole = imports.filter(({ file, to }) => part(file, 0) !== "test" && to === "lib/routes/index.ts");
    expect(whole.filter(({ file }) => part(file, 0) !== "infra")).toEqual([]);
  });
});

/** What a deployment calls. */
const withoutRoute = ["fill-secrets", "migrate"];

describe("the route table", () => {
  test("has a function for every row and a row for every function that is not part of a deployment", () => {
    const rows = [...routes, ...authorizers, ...internalFunctions].map(({ fn }) => fn);
    expect(listFunctions().toSorted()).toEqual([...rows, ...withoutRoute].toSorted());
  });

  test("has no two rows with one method and path", () => {
    const places = routes.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(places).size).toBe(places.length);
  });

  test("has an authorizer for every kind of auth", () => {
    const kinds = new Set(routes.map(({ auth }) => auth.kind).filter((kind) => kind !== "public"));
    expect([...kinds].toSorted()).toEqual(authorizers.map(({ kind }) => kind).toSorted());
  });

  test("speaks of nothing outside its area: /v1 and the area's name, or messages without a version", () => {
    const prefixes: Record<string, readonly string[]> = {
      employee: ["/v1/simpeg"],
      resident: ["/v1/penduduk"],
      tourism: ["/v1/pariwisata"],
      messaging: ["/send", "/messages", "/webhooks"],
      docs: ["/docs", "/openapi.json"],
    };
    for (const { fn, path } of routes.filter((route) => route.path !== "/"))
      expect(prefixes[part(fn, 0)]?.filter((prefix) => path.startsWith(prefix))).toHaveLength(1);
  });

  test("names each segment in braces of a path in its schema, and no other", () => {
    for (const { path, params } of routes) {
      const names = [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name);
      const { properties = {} } = params ? z.toJSONSchema(params) : {};
      expect(Object.keys(properties)).toEqual(names);
    }
  });
});

test("a function file stays short", () => {
  for (const fn of listFunctions())
    expect(readFileSync(`functions/${fn}.ts`, "utf8").split("\n").length).toBeLessThanOrEqual(41);
});

test("SQL names each advisory lock that it takes, and no two have one key", () => {
  const keys: readonly number[] = Object.values(advisoryLocks);
  expect(new Set(keys).size).toBe(keys.length);
  const taken = globSync("lib/db/functions/*/*.sql").flatMap((file) => [
    ...readFileSync(file, "utf8").matchAll(/\b(72063\d\d)\b(?:::bigint)?(?: \/\* (\w+) \*\/)?/g),
  ]);
  expect(taken.length).toBeGreaterThan(10);
  for (const [, key, name] of taken)
    expect([name, key]).toEqual([
      name,
      `${new Map<string, number>(Object.entries(advisoryLocks)).get(`${name}`)}`,
    ]);
});
