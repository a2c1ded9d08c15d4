import en from "./words/en.json" with { type: "json" };
import id from "./words/id.json" with { type: "json" };

/** The name of a text. Each language has the same. */
export type TextKey = keyof typeof en;

/**
 * Says a text. `{name}` stands for the value of that name. The forms of a text with a number are separated by ` | `, in the
 * order of the language's plural categories; the value `count` chooses one.
 */
export type Say = (key: TextKey, values?: Readonly<Record<string, string | number>>) => string;

const sayIn = (texts: Readonly<Record<TextKey, string>>): Say => {
  const rules = new Intl.PluralRules(texts.locale);
  const { pluralCategories } = rules.resolvedOptions();
  return (key, values = {}) => {
    const forms = texts[key].split(" | ");
    const form = forms.length > 1 ? pluralCategories.indexOf(rules.select(Number(values.count))) : 0;
    return (forms[form] ?? key).replace(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place));
  };
};

const texts = { en, id };
export type Language = keyof typeof texts;
export const languages: Readonly<Record<Language, Say>> = { en: sayIn(en), id: sayIn(id) };

export const isLanguage = (name: string | undefined): name is Language =>
  name !== undefined && Object.hasOwn(languages, name);

/** In the order of the file. */
export const textKeys = Object.keys(en) as TextKey[];

/** Says a text whose name has a part from elsewhere. @returns undefined if there is none. */
export const sayIfKnown = (say: Say, key: string, values?: Parameters<Say>[1]): string | undefined =>
  Object.hasOwn(en, key) ? say(key as TextKey, values) : undefined;

/**
 * Translates a text that another room has in English: what a platform's code means, and reasons. The other languages have it
 * under the English text.
 */
export const translate = (text: string, language: Language): string =>
  (texts[language] as Readonly<Record<string, string>>)[text] ?? text;
