import { expect, test, vi } from "vitest";
import { probe } from "#lib/probe.ts";
import { serve } from "../steps/http-server.ts";

const answering = (status: number) => serve((_request, response) => response.writeHead(status).end());

test.each([200, 302, 404])("an API that answers %i is there", async (status) => {
  await expect(probe({ integration: await answering(status) })).resolves.toBeUndefined();
});

test.each([403, 429, 500, 503])(
  "an API that answers %i fails the probe, which logs the status",
  async (status) => {
    const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
    const addresses = { integration: await answering(302), messaging: await answering(status) };
    await expect(probe(addresses)).rejects.toThrow("no answer from messaging");
    expect(JSON.parse(String(write.mock.calls[0]?.[0]))).toMatchObject({
      ...{ level: "error", message: "no answer from outside", api: "messaging", status },
    });
  },
);

test("an API that refuses connections fails the probe, which logs why", async () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const addresses = { integration: "http://127.0.0.1:9", messaging: "http://127.0.0.1:9" };
  await expect(probe(addresses)).rejects.toThrow("no answer from integration and messaging");
  expect(String(write.mock.calls[0]?.[0])).toContain("ECONNREFUSED");
});
