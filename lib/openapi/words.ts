import type { FunctionIn } from "#lib/routes/route.ts";
import type { Schema } from "./schema.ts";

/** The documentation of a parameter or a field of a body. */
export interface FieldWords extends Text {
  readonly example: unknown;
  /**
   * Replaces the route's schema where the endpoint checks more than the schema says, or where the text of a form field
   * means another type.
   */
  readonly schema?: Schema;
  /** Media types of the form part; `text/plain` by default. */
  readonly mediaType?: string;
}

/** The documentation of a successful response. */
interface ReplyWords extends Text {
  /** Schema name among the document's components. */
  readonly name: string;
  /** Schema names of its parts by path, for `splitSchema`. */
  readonly parts?: Readonly<Record<string, string>>;
  /** By the field's path, such as `data.nik_alt`, without list indexes. */
  readonly fields: Readonly<Record<string, Text>>;
  readonly examples: Readonly<Record<string, unknown>>;
}

/** The documentation of a route, beyond its row. */
export interface RouteWords extends Text {
  /** Operation id, the method name in generated clients. */
  readonly operationId: string;
  /** The row's summary in Indonesian. */
  readonly summaryInIndonesian: string;
  /** By the name of the parameter or field. */
  readonly fields: Readonly<Record<string, FieldWords>>;
  /** Bodies with several forms: the fields that each one requires, and those that it excludes. */
  readonly forms?: {
    /** Whether a body must match exactly one form, or may match several. */
    readonly keyword: "oneOf" | "anyOf";
    readonly each: readonly { readonly title: string; readonly needs: string; readonly without?: string }[];
  };
  /** Examples of bodies, by name. */
  readonly examples?: Readonly<Record<string, unknown>>;
  /** An invalid input; the endpoint's error for it is the example of its 400. */
  readonly mistake:
    | { readonly where: "body" | "params"; readonly input: unknown }
    | { readonly where: "query"; readonly input: Readonly<Record<string, string>> };
  /** Shell lines that call it; `{base}` stands for the API's address. */
  readonly curl: string;
  readonly reply: ReplyWords;
}

/** The words of all rows that a module of routes exports, by function: a row without words does not compile. */
export type AreaWords<Rows> = Readonly<Record<FunctionIn<Rows>, RouteWords>>;

/** The languages of the documentation; the first is the default. */
export const languages = ["en", "id"] as const;
export type Language = (typeof languages)[number];

/** A text in each language, as CommonMark. */
export type Text = Readonly<Record<Language, string>>;
