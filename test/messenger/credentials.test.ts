import { text } from "node:stream/consumers";
import { expect, inject, onTestFinished, test } from "vitest";
import { messengerSecrets } from "#lib/routes/internal.ts";
import { startMessengerProcess } from "../../infra/local/messenger/process.ts";
import { serve } from "../steps/http-server.ts";

test("a task without credentials in its environment gets those of its role by HTTP, as in a container", async () => {
  const city = inject("city");
  const role = await serve((_, response) =>
    response.end(
      JSON.stringify({
        AccessKeyId: "ROLEOFTHETASK",
        SecretAccessKey: "invented",
        Token: "messenger-of-the-role",
        Expiration: new Date(Date.now() + 3_600_000).toISOString(),
      }),
    ),
  );
  const signed = new Set<string>();
  const secretsManager = await serve(async (request, response) => {
    signed.add(/Credential=(\w+)/.exec(request.headers.authorization ?? "")?.[1] ?? "none");
    const answer = await fetch(city.secretsUrl, {
      method: "POST",
      headers: { "x-amz-target": String(request.headers["x-amz-target"]) },
      body: await text(request),
    });
    response.writeHead(answer.status, { "content-type": "application/x-amz-json-1.1" });
    response.end(await answer.text());
  });
  const task = await startMessengerProcess(
    {
      ...Object.fromEntries(
        Object.entries(messengerSecrets).map(([variable, name]) => [variable, `municipal/local/${name}`]),
      ),
      AWS_REGION: "local",
      AWS_CONTAINER_CREDENTIALS_FULL_URI: role,
      AWS_ENDPOINT_URL_SECRETS_MANAGER: secretsManager,
      DATABASE_TLS: "disable",
      MESSENGER_HOST: "127.0.0.1",
      MESSENGER_PORT: "0",
      PLATFORM_URL: "ws://127.0.0.1:1",
    },
    () => {},
  );
  onTestFinished(() => task.stop());
  expect((await fetch(`${task.url}/health`)).status).toBe(200);
  expect(signed).toEqual(new Set(["ROLEOFTHETASK"]));
});
