import { expect, test } from "vitest";
import { languages } from "#lib/openapi/words.ts";
import { Behaviour } from "../../infra/local/whatsapp/behaviour.ts";
import { useDeliveringCity } from "../steps/city/delivering-city.ts";
import { readGuideText } from "../steps/shell-lines.ts";

const city = useDeliveringCity();

/** The rows of the guide to test data: a behaviour, and the first state or reason to wait that it names. */
const rows = [
  ...readGuideText("en", "test-data").matchAll(/^\| `(\{.*?\})` \| .*? \| .*?`(\w+)`.* \|$/gm),
].map(([, json = "", seen = ""]) => ({ json, seen }));

test.each(languages)(
  "each behaviour that the guide to test data in %s names leads to a state",
  (language) => {
    const named = [...readGuideText(language, "test-data").matchAll(/^\| `(\{.*?\})` \|/gm)];
    expect(named.map(([, json]) => json)).toEqual(rows.map(({ json }) => json));
    expect(rows.length).toBeGreaterThan(5);
  },
);

test.each(rows)("the behaviour $json shows $seen to the caller", async ({ json, seen }) => {
  city.platform.behave(Behaviour.parse(JSON.parse(json)));
  const phone = `62812000${10_001 + rows.findIndex((row) => row.json === json)}`;
  const { json: sent } = await city.client.sendMessage({ phone, message: "x" });
  const read = async () => {
    const { status, waiting_for } = (await city.client.read(sent.data.id)).json.data;
    return [status, waiting_for];
  };
  await expect.poll(read, { timeout: 40_000 }).toContain(seen);
  city.platform.behave({});
});
