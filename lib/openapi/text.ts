/** What the documentation speaks; the first unless another is asked for. */
export const languages = ["en", "id"] as const;
export type Language = (typeof languages)[number];

/** The same in each language, as CommonMark. */
export type Text = Readonly<Record<Language, string>>;
