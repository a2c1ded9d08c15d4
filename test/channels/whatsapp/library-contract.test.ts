import { globSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from "baileys";
import { expect, test, vi } from "vitest";
import { Delivery } from "../../../infra/local/whatsapp/delivery.ts";
import { comparedVersion, installedVersion, reliances } from "./library-contract.ts";
import { citizen, createScene, openPaired, sendNew, text } from "./linked-whatsapp.ts";

const folder = "lib/channels/whatsapp";
const read = (file: string) => readFileSync(`${folder}/${file}`, "utf8");

test("baileys is the version that was compared, in package.json and installed", () => {
  const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(
    [dependencies.baileys, installedVersion],
    "After an upgrade read its changes, run the tests and npm run lab -- platform-check, then set comparedVersion in library-contract.ts",
  ).toEqual([comparedVersion, comparedVersion]);
});

test.each(reliances)("baileys $that", async ({ file, look, holds }) =>
  expect(await holds(), `${folder}/${file} relies on it. ${look}`).toBe(true),
);

test.each(reliances)("the code that relies on it exists: $file, $code", ({ file, code }) =>
  expect(read(file)).toContain(code),
);

/** Casts to private members, changed members of the library, and events of its socket. */
const reaches =
  /as unknown as|Object\.assign\((?!event|progress)|(?:baileys|socket)(?:\.\w+){2,} = |\.on\(["`](?:TAG|CB):/;

test("each reach into baileys is in the list", () => {
  const listed = ({ file, line }: { file: string; line: string }) =>
    reliances.some((one) => one.file === file && line.includes(one.code));
  const found = globSync(`${folder}/**/*.ts`).flatMap((path) =>
    readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => reaches.test(line))
      .map((line) => ({ file: relative(folder, path), line: line.trim() })),
  );
  expect(found.length).toBeGreaterThan(5);
  expect(
    found.filter((one) => !listed(one)),
    "add it to library-contract.ts",
  ).toEqual([]);
});

test("a text leaves as one frame that names its devices, and is answered by an ack with its id", async () => {
  const { sql, fake } = await createScene();
  const deliver = vi.spyOn(Delivery.prototype, "deliver");
  const platform = await openPaired({ fake, sql });
  const { id, answer } = await sendNew(platform, text("x"));
  expect(answer).toEqual({ outcome: "acked" });
  const sent: BinaryNode[] = deliver.mock.calls.map(([, , stanza]) => stanza);
  expect(sent).toHaveLength(1);
  const [message] = sent;
  const lidOf = ({ lid }: { readonly lid: string }) => `${lid}@lid`;
  expect(message?.attrs).toMatchObject({ id, to: lidOf(fake.phone(citizen)), type: "text" });
  const copies = getBinaryNodeChildren(getBinaryNodeChild(message, "participants"), "to");
  // the recipient's phone and the account's own, which shows the message too
  expect(copies.map((copy) => copy.attrs.jid).toSorted()).toEqual(
    [lidOf(fake.phone(citizen)), lidOf(fake.account)].toSorted(),
  );
  for (const copy of copies)
    expect(getBinaryNodeChild(copy, "enc")?.attrs, "the first message starts a session").toMatchObject({
      v: "2",
      type: "pkmsg",
    });
  expect(getBinaryNodeChild(message, "device-identity")).toBeDefined();
});
