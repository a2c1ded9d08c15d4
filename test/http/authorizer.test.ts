import { expect, test, vi } from "vitest";
import { authorizer, type Identity } from "#lib/http/authorizer.ts";

const stage = "arn:aws:execute-api:ap-southeast-3:123456789012:api/prod";
const ask = (identify: (headers: Record<string, string | undefined>) => Promise<Identity | undefined>) =>
  authorizer(identify)({
    ...{ headers: { ApiKey: "k" }, methodArn: `${stage}/POST/v1/penduduk` },
    requestContext: { requestId: "id-1" },
  } as never);

test("identifys to the whole stage, since the gateway reuses the answer for other routes", async () => {
  const admission = { principalId: "p", context: { a: "b" }, usageIdentifierKey: "u" };
  expect(await ask(async ({ apikey }) => (apikey === "k" ? admission : undefined))).toEqual({
    ...admission,
    policyDocument: {
      Version: "2012-10-17",
      Statement: [{ Effect: "Allow", Action: "execute-api:Invoke", Resource: `${stage}/*` }],
    },
  });
});

test("says Unauthorized, the word of which the gateway makes a 401, of a caller whom nobody knows", async () =>
  await expect(ask(async () => undefined)).rejects.toThrow(/^Unauthorized$/));

test("fails in other words when it cannot tell who is calling, with the reason in the log alone", async () => {
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
