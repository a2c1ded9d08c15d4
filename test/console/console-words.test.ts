import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { rejections } from "#lib/channels/codes.ts";
import {
  disconnections,
  passkeyRequired,
  unknownDisconnection,
  unscanned,
} from "#lib/channels/whatsapp/codes.ts";
import en from "#lib/console/words/en.json" with { type: "json" };
import id from "#lib/console/words/id.json" with { type: "json" };
import { languages, type TextKey, textKeys, translate } from "#lib/console/words.ts";
import { reasons } from "#lib/messenger/outbox/message.ts";

/** The names of the values of a text. What is in two braces is part of the text. */
const valuesOf = (text: string) => [
  ...new Set([...text.matchAll(/(?<!\{)\{(\w+)\}/g)].map(([, name = ""]) => name)),
];

/** What other rooms have in English: the meaning of each code, what is done about it, and reasons. */
const sentences = new Set(
  [disconnections, { passkeyRequired, unknownDisconnection, unscanned }, ...Object.values(rejections)]
    .flatMap((rows) => Object.values(rows).flatMap(({ says, operator }) => [says, operator]))
    .concat(Object.values(reasons)),
);

test("each text has the same values in both languages, and each sentence of another room a translation", () => {
  expect(new Set(Object.keys(id))).toEqual(new Set([...textKeys, ...sentences]));
  for (const key of textKeys)
    expect([key, valuesOf(id[key]).toSorted()]).toEqual([key, valuesOf(en[key]).toSorted()]);
  for (const sentence of sentences) expect(translate(sentence, "id")).not.toBe(sentence);
});

test("a text has at most as many forms as its language", () => {
  for (const texts of [en, id]) {
    const { pluralCategories } = new Intl.PluralRules(texts.locale).resolvedOptions();
    for (const key of textKeys) {
      const forms = texts[key].split(" | ");
      expect([1, pluralCategories.length]).toContain(forms.length);
      if (forms.length > 1) expect(valuesOf(texts[key])).toContain("count");
    }
  }
});

test("a text has the form of its count, and values are not read as places", () => {
  const count = (count: number) => languages.en("runs.cancel.button", { count });
  expect([0, 1, 2].map(count)).toEqual(["Cancel 0 messages", "Cancel 1 message", "Cancel 2 messages"]);
  expect(languages.id("runs.cancel.button", { count: 1 })).toBe("Batalkan 1 pesan");
  expect(languages.en("status.outage", { service: "{time} $& a | b", time: "1 s" })).toBe(
    "{time} $& a | b stay queued, and are tried again in 1 s.",
  );
  expect(languages.en("templates.textHint")).toMatch(/^\{\{name\}\} stands/);
});

/** A call's text from its key to its end. */
const restOfCall = (code: string) => {
  let depth = 0;
  for (const { 0: bracket, index } of code.matchAll(/[()]/g)) {
    depth += bracket === "(" ? 1 : -1;
    if (depth < 0) return code.slice(0, index);
  }
  return code;
};

/** Where the code names texts: by a key, or by a pattern with a part from elsewhere. */
const mentions = globSync("{lib/console,infra/cli}/**/*.ts").flatMap((file) => {
  const code = readFileSync(file, "utf8");
  return [...code.matchAll(/"([\w.-]+)"|`([\w-]+\.(?:[\w.-]|\$\{[^}]*\})+)`/g)].map((match) => {
    const [all, key = "", pattern = ""] = match;
    const parts = pattern.split(/\$\{[^}]*\}/).map((part) => part.replaceAll(".", "\\."));
    const rest = restOfCall(code.slice(match.index + all.length));
    return { key, pattern: new RegExp(`^${parts.join("[^.]+")}$`), rest };
  });
});

/** Whether a text is said, each time with all its values. */
const isSaid = (key: TextKey) => {
  const hasValues = ({ rest }: { rest: string }) =>
    valuesOf(en[key]).every((name) => new RegExp(`\\b${name}\\b`).test(rest));
  const named = mentions.filter((mention) => mention.key === key);
  return named.length > 0
    ? named.every(hasValues)
    : mentions.some((mention) => mention.pattern.test(key) && hasValues(mention));
};

test("each text is said somewhere with all its values, or is a column of a table", () => {
  expect(mentions.length).toBeGreaterThan(300);
  expect(textKeys.filter((key) => !key.includes(".columns.") && !isSaid(key))).toEqual([]);
});
