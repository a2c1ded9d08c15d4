import { expect, test } from "vitest";
import { languages } from "#lib/openapi/words.ts";
import { readGuideText } from "../../steps/shell-lines.ts";
import { replaceTables } from "./guide.ts";

test("the guide shows the stored figures in every language; npm run bench -- --store updates it", () => {
  for (const guide of languages.map((language) => readGuideText(language, "speed")))
    expect(replaceTables(guide)).toBe(guide);
});
