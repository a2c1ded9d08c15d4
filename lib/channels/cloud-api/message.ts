import { Unsendable } from "../channel.ts";
import type { CloudApiSettings } from "./settings.ts";

/** Media that the platform takes. */
export interface Media {
  readonly kind: "image" | "document";
  readonly fileName: string | undefined;
  /** @returns the platform's id of them. @throws ChannelFailure, Unsendable */
  readonly upload: () => Promise<string>;
}

/**
 * Of the body with its parameter. The reference names 32,768 for a body alone, but the platform counts the template's own text
 * too, and rejects more than this.
 * @see https://github.com/glific/glific/issues/3517
 */
const maxTextLength = 1_024;

/**
 * Removes what a parameter must not contain: line breaks, tabs and more than four spaces in a row. A break becomes a dot
 * between the lines, or a space after punctuation.
 * @see https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes 132018
 */
const toParameter = (text: string): string =>
  text
    .split(/[\n\r\v\f\u0085\u2028\u2029]+/)
    .map((line) => line.replace(/\t+/g, " ").trim())
    .filter((line) => line !== "")
    .reduce(
      (before, line) => (before ? `${before}${/[\p{P}]$/u.test(before) ? " " : " · "}${line}` : line),
      "",
    )
    .replace(/ {5,}/g, "    ");

/** Digits that stand alone: not a part of a word, an amount, a date, a number with a plus or an address. */
const loneDigits = /(?<![\p{L}\p{N}+/=?&#]|\d[-.,:])\d{4,8}(?![\p{L}\p{N}]|[-.,:/]\d)/gu;

/** Templates for one-time codes take the code alone. @throws Unsendable unless there is exactly one of 4 to 8 digits. */
const findCode = (text: string): string => {
  const [code, ...others] = new Set(text.match(loneDigits));
  if (code === undefined || others.length > 0)
    throw new Unsendable(
      "A one-time code goes through this channel only if its text has exactly one number of 4 to 8 digits",
    );
  return code;
};

const text = (value: string) => [{ type: "text", text: value }];

/** @throws Unsendable for a text that no parameter takes. */
const getText = (given: string | undefined): string => {
  const value = toParameter(given ?? "");
  if (value === "") throw new Unsendable("This channel sends an image only with a caption");
  if (value.length > maxTextLength)
    throw new Unsendable(`This channel takes a text of at most ${maxTextLength} characters`);
  return value;
};

/** @throws Unsendable without a template for the kind of media. */
const getName = ({ templates }: CloudApiSettings, media: Media | undefined): string => {
  const name = media ? templates[media.kind === "image" ? "image" : "file"] : templates.text;
  if (name === undefined) throw new Unsendable("This channel has no template for media of this kind");
  return name;
};

/**
 * The button of a copy-code template takes the code once more.
 * @see https://developers.facebook.com/docs/whatsapp/business-management-api/authentication-templates/copy-code-button-authentication-templates
 */
export const codeTemplate = ({ templates }: CloudApiSettings, message: string) => {
  const parameters = text(findCode(message));
  return {
    name: templates.code,
    language: { code: templates.language },
    components: [
      { type: "body", parameters },
      { type: "button", sub_type: "url", index: "0", parameters },
    ],
  };
};

/**
 * Uploads the media once everything else is known to fit.
 *
 * @param message the text, or the caption; a file without one gets its name. @throws Unsendable, ChannelFailure
 */
export const textTemplate = async (
  settings: CloudApiSettings,
  message: string | undefined,
  media?: Media,
) => {
  const name = getName(settings, media);
  const body = { type: "body", parameters: text(getText(message ?? media?.fileName)) };
  const { language } = settings.templates;
  if (!media) return { name, language: { code: language }, components: [body] };
  const shown = { id: await media.upload(), filename: media.fileName };
  const header = { type: "header", parameters: [{ type: media.kind, [media.kind]: shown }] };
  return { name, language: { code: language }, components: [header, body] };
};
