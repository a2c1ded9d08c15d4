import { expect, test } from "vitest";
import { readWish, words } from "#lib/messenger/reply/words.ts";

const hourMs = 60 * 60_000;

test.each(Object.entries(words))("%s is read in any case", (word, { wish }) => {
  for (const text of [word, word.toLowerCase(), `${word[0]}${word.slice(1).toLowerCase()}`])
    expect(readWish(text, hourMs)).toBe(wish);
});

test.each([
  ...["Stop.", "*STOP*", "_stop_", "~stop~", "`stop`", "```stop```", '"STOP"', "“Stop”", "(stop)", "stop?!"],
  ...["  stop\n", "\tSTOP\u00a0", "\u200bstop\u200b", "\u202eSTOP\u202c", "\ufeffstop", "STOP\u0000"],
  ...["stop 🛑", "🛑️ stop", "stop 👍🏽", "stop 👨‍👩‍👧", "stop 🇮🇩", "stop❗️", "stop️", "STOP⃣", "stop…"],
  ...["ＳＴＯＰ", "𝗦𝗧𝗢𝗣", "ﬆop", "stop。", "- stop -", "stop.....", "stop\r\n\r\n"],
])("%j is STOP", (text) => expect(readWish(text, hourMs)).toBe("out"));

test.each([
  ...[
    "berhenti!",
    "BERHENTI",
    "*Berhenti*",
    " berhenti 🙏🏾 ",
    "stop ya",
    "berhenti dong",
    "Stop, pak.",
    "stop kak 🙏",
  ],
  ...[
    "tolong berhenti",
    "please stop",
    "Mohon hentikan ya pak, terima kasih",
    "stop stop stop!!!",
    "BERHENTI/STOP.",
  ],
  ...[
    "opt out",
    "Opt-Out",
    "optout",
    "stop all",
    "unsubscribe pls",
    "batal aja",
    "ok stop",
    "unreg.",
    "END",
    "quit",
  ],
])("%j opts out", (text) => expect(readWish(text, hourMs)).toBe("out"));

test.each([
  ...["stop sending me X", "stop it", "don't stop", "STOP MULAI", "non-stop", "mulai ya", "please start"],
  ...["jangan berhenti", "stop1", "1 stop", "stopp", "sto p", "s.t.o.p", "ya", "terima kasih", "opt", "out"],
  ...["kapan berhenti ya", "batal kenapa kak", "cancel my appointment please", "weekend", "bus stop"],
  ...["", " ", "🛑", ".", "constructor", "__proto__", "toString", "hasOwnProperty", "стоп", "halte", "ЅТОР"],
  ...["st\u200bop", `stop${"!".repeat(60_000)}`, `${" ".repeat(60_000)}stop`, "stop\nsekarang"],
])("%j is no word", (text) => expect(readWish(text, 0)).toBeUndefined());

test("STOP counts at any age, START for a day", () => {
  const ages = [-hourMs, 0, 24 * hourMs, 24 * hourMs + 1, 1_000 * hourMs, Number.NaN];
  for (const word of Object.keys(words).filter((word) => words[word]?.wish === "out"))
    expect(ages.map((age) => readWish(word, age))).toEqual(ages.map(() => "out"));
  for (const word of ["mulai", "start"])
    expect(ages.map((age) => readWish(word, age))).toEqual(["in", "in", "in", ...Array(3).fill(undefined)]);
});
