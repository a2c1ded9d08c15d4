import { expect, test } from "vitest";
import { documentNames } from "../../lib/routes/docs.ts";
import { run } from "./generators.ts";

test("Spectral finds no error in the documents by the rules of OpenAPI and of OWASP", async () => {
  const documents = documentNames.map((name) => `../../dist/docs-openapi/docs/${name}.en.json`);
  const spectral = ["lint", "--ruleset", "spectral.yaml", "--fail-severity", "error", ...documents];
  await expect(
    run(import.meta.dirname, ["node_modules/@stoplight/spectral-cli/dist/index.js", ...spectral]),
  ).resolves.toBeUndefined();
});
