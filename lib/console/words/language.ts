import { en, type Words } from "./en.ts";
import { id } from "./id.ts";

export const languages = { en, id } satisfies Record<string, Words>;
export type Language = keyof typeof languages;

export const isLanguage = (name: string | undefined): name is Language =>
  name !== undefined && Object.hasOwn(languages, name);

/** @param header `Accept-Language`. @returns the language that the reader prefers among those of the console. */
const preferred = (header: string): Language => {
  const wanted = header.split(",").map((entry, index) => {
    const [tag = "", ...parameters] = entry.trim().toLowerCase().split(";");
    const weight = parameters
      .find((parameter) => parameter.trim().startsWith("q="))
      ?.trim()
      .slice(2);
    // "in" is the old code of Indonesian
    const name = tag.split("-")[0]?.replace(/^in$/, "id");
    return { name, weight: Number(weight ?? 1), index };
  });
  const known = wanted.filter(({ name, weight }) => isLanguage(name) && weight > 0);
  const [best] = known.toSorted((one, other) => other.weight - one.weight || one.index - other.index);
  return isLanguage(best?.name) ? best.name : "en";
};

/** @param chosen with the switch of the page. */
export const findLanguage = (chosen: string | undefined, header: string | undefined): Language =>
  isLanguage(chosen) ? chosen : preferred(header ?? "");
