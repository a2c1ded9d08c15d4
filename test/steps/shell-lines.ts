import { readFileSync } from "node:fs";

/** A fenced block of a Markdown file. */
export interface Block {
  readonly language: string;
  /** The word after the language, such as `cloud` for a block that needs an AWS account. */
  readonly mark: string;
  readonly text: string;
}

export const readBlocks = (markdown: string): Block[] =>
  [...markdown.matchAll(/^```(\w+) ?(\w*)\n(.*?)^```$/gms)].map(
    ([, language = "", mark = "", text = ""]) => ({
      ...{ language, mark, text },
    }),
  );

/** The shell blocks with curl, then the curl lines of the running text. */
const listAsking = (markdown: string): string[] => {
  const blocks = readBlocks(markdown).filter(({ language, mark }) => language === "sh" && mark !== "cloud");
  const outside = markdown.replace(/^```.*?^```$/gms, "");
  const inline = [...outside.matchAll(/`(curl [^`]+)`/g)].map(([, line = ""]) => line);
  return [...blocks.map(({ text }) => text).filter((text) => text.includes("curl ")), ...inline];
};

/** Every curl call has to succeed, except lines with `# expect 400`. */
const guarded = (text: string): string =>
  text.replace(/^curl (.*) +# expect (\d{3})$/gm, (_, rest, status) => `expect ${status} ${rest}`);

const prelude = `set -euo pipefail
asked() { printf '%q ' "$@" >> calls; echo >> calls; }
curl() { asked "\${BASH_LINENO[0]}" "$@"; command curl --fail-with-body "$@" || { echo "failed: $*" >&2; return 22; }; }
expect() {
  local wanted=$1; shift; asked "\${BASH_LINENO[0]}" "$@"
  [ "$(command curl -o answer -w '%{http_code}' "$@")" = "$wanted" ] || { echo "not $wanted: $*" >&2; return 1; }
}
: > calls
`;

/**
 * One script of all curl calls of a text, in their order, and their number. It writes a line for each call to the file
 * `calls`: equal ones for the repetitions of a loop.
 */
export const composeScript = (markdown: string): { script: string; calls: number } => {
  const texts = listAsking(markdown);
  const calls = texts.join("\n").match(/(?<![\w/-])curl -/g)?.length ?? 0;
  return { script: `${prelude}${texts.map(guarded).join("\n")}\n`, calls };
};

export const readGuideText = (language: string, name: string): string =>
  readFileSync(`lib/docs/guides/${language}/${name}.md`, "utf8");
