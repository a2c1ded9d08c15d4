import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { aimAt, listen, serve } from "../steps/http-server.ts";

/** The client, aimed at an address. */
const clientFor = async (url: string) => {
  aimAt(url);
  return (await import("#lib/employee/upstream.ts")).sendRequest;
};

const get = { method: "GET", path: "/x" } as const;

test("reuses its connection", async () => {
  const ports = new Set<number | undefined>();
  const url = await serve((request, response) => {
    ports.add(request.socket.remotePort);
    response.end("{}");
  });
  const ask = await clientFor(url);
  for (let i = 0; i < 3; i++)
    expect(await ask("EMPLOYEE_SYSTEM_URL", get)).toEqual({ status: 200, json: {} });
  expect(ports.size).toBe(1);
});

test("retries when the reused connection turns out to be closed", async () => {
  const sockets: Socket[] = [];
  let requests = 0;
  const url = await serve((request, response) => {
    sockets.push(request.socket);
    requests += 1;
    // the second question meets a connection that is cut while it is on its way
    if (requests === 2) request.socket.resetAndDestroy();
    else response.end("{}");
  });
  const ask = await clientFor(url);
  await ask("EMPLOYEE_SYSTEM_URL", get);
  expect((await ask("EMPLOYEE_SYSTEM_URL", get)).status).toBe(200);
  expect([requests, new Set(sockets).size]).toEqual([3, 2]);
});

test("opens a new connection for each POST, which must not be sent twice", async () => {
  const ports: (number | undefined)[] = [];
  const url = await serve((request, response) => {
    ports.push(request.socket.remotePort);
    response.end("{}");
  });
  const ask = await clientFor(url);
  for (let i = 0; i < 3; i++) await ask("LEGACY_AUTH_URL", { method: "POST", form: { a: "b" } });
  expect(new Set(ports).size).toBe(3);
});

test("keeps the path and parameters of the URL", async () => {
  const seen: string[] = [];
  const url = await serve((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end("{}");
  });
  const ask = await clientFor(`${url}/old/?site=1`);
  await ask("LEGACY_AUTH_URL", { method: "POST", form: {} });
  await ask("EMPLOYEE_SYSTEM_URL", { ...get, query: { q: "a b&c+é" } });
  expect(seen).toEqual(["POST /old/?site=1", "GET /old/x?q=a%20b%26c%2B%C3%A9&site=1"]);
});

test.each([
  ["a byte order mark before it", "\uFEFF{}", {}],
  ["an HTML page", "<html>", undefined],
  ["nothing", "", undefined],
])("reads an answer with %s", async (_, body, json) => {
  const url = await serve((_request, response) => void response.end(body));
  expect((await (await clientFor(url))("EMPLOYEE_SYSTEM_URL", get)).json).toEqual(json);
});

test("is 502 for an answer that is not HTTP", async () => {
  const url = await listen(createServer((socket) => socket.on("error", () => {}).end("nonsense\r\n\r\n")));
  await expect((await clientFor(url))("EMPLOYEE_SYSTEM_URL", get)).rejects.toMatchObject({ status: 502 });
});

test("is 502 when the connection is refused", async () => {
  const server = createServer();
  const url = await listen(server);
  server.close();
  await once(server, "close");
  await expect((await clientFor(url))("EMPLOYEE_SYSTEM_URL", get)).rejects.toMatchObject({
    status: 502,
    message: "A legacy system failed. Try again later.",
  });
});

test("is 504 for an answer that never ends", async () => {
  const url = await serve((_request, response) => {
    const timer = setInterval(() => response.write(" "), 100);
    response.on("close", () => clearInterval(timer));
  });
  const asked = { ...get, timeoutMs: 300 };
  await expect((await clientFor(url))("EMPLOYEE_SYSTEM_URL", asked)).rejects.toMatchObject({ status: 504 });
});
