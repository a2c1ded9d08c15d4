/** The languages of the documentation; the first is the default. */
export const languages = ["en", "id"] as const;
export type Language = (typeof languages)[number];

/** A text in each language, as CommonMark. */
export type Text = Readonly<Record<Language, string>>;
