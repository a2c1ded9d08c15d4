import { expect, test, vi } from "vitest";
import { authorizer, type Identity } from "#lib/http/authorizer.ts";

const stage = "arn:aws:execute-api:ap-southeast-3:123456789012:api/prod";
const ask = (identify: (headers: Record<string, string | undefined>) => Promise<Identity | undefined>) =>
  authorizer(identify)({
    ...{ headers: { ApiKey: "k" }, methodArn: `${stage}/POST/v1/penduduk` },
    requestContext: { requestId: "id-1" },
  } as never);

test("allows the whole stage, because the gateway reuses the answer for other routes", async () => {
  const identity = { principalId: "p", context: { a: "b" }, usageIdentifierKey: "u" };
  expect(await ask(async ({ apikey }) => (apikey === "k" ? identity : undefined))).toEqual({
    ...identity,
    policyDocument: {
      Version: "2012-10-17",
      Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource: `${stage}/*` }],
    },
  });
});

test("throws Unauthorized for an unknown caller, which the gateway turns into 401", async () =>
  await expect(ask(async () => undefined)).rejects.toThrow(/^Unauthorized$/));

test("fails with another error when it cannot check the caller, and logs the reason", async () => {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  const failing = ask(async () => {
    throw new Error("the database is away");
  });
  await expect(failing).rejects.toThrow(/^The authorizer failed$/);
  const [[line] = []] = write.mock.calls;
  write.mockRestore();
  expect(JSON.parse(String(line))).toMatchObject({ message: "authorizer failed", request_id: "id-1" });
  expect(String(line)).toContain("the database is away");
});
