import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { guideNames } from "../../infra/docs/guide.ts";
import { listTabs } from "./tabs.ts";

const guides = guideNames.map((guide) => [guide, listTabs(guide)] as const).filter(([, tabs]) => tabs.length);

/** How each language reads the environment. */
const reads: Readonly<Record<string, readonly RegExp[]>> = {
  ts: [/process\.env\.(\w+)/g, /\b([A-Z_]+)\b(?=[^{}]*\} = process\.env\b)/g],
  python: [/os\.environ\["(\w+)"\]/g],
  php: [/getenv\('(\w+)'\)/g],
};

const namesIn = (text: string, patterns: readonly RegExp[] = []): string[] =>
  patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = ""]) => name));

const exportedIn = (shell: string): string[] =>
  (shell.match(/^export .*/gm) ?? []).flatMap((line) => namesIn(line, [/ ([A-Z_]+)(?==| |$)/g]));

test("each file of examples stands beside a shell block of a guide", () => {
  const shown = guides.flatMap(([, tabs]) => tabs.map(({ name }) => `${name}.md`));
  expect(readdirSync("lib/docs/examples").sort()).toEqual([...new Set(shown)].sort());
});

test.each(guides)("no two tabs of the guide %s are equal", (_, tabs) => {
  const texts = tabs.flatMap(({ shell, others }) => [shell, ...others.values()]);
  expect(texts.filter((text, index) => texts.indexOf(text) !== index)).toEqual([]);
});

test.each(guides)("the shell of the guide %s exports what the tabs beside it read", (_, tabs) => {
  for (const { name, shellSoFar, others } of tabs) {
    const exported = exportedIn(shellSoFar);
    for (const [language, text] of others)
      for (const variable of namesIn(text, reads[language]))
        expect([name, language, exported]).toEqual([name, language, expect.arrayContaining([variable])]);
  }
});
