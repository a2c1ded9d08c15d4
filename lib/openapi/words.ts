import type { Schema } from "./schema.ts";
import type { Text } from "./text.ts";

/** What is said about a parameter or a field of a body. */
export interface FieldWords {
  readonly text: Text;
  readonly example: unknown;
  /**
   * Stands in place of the route's schema where that says less than the endpoint checks in code, or where it
   * speaks of text that means something else, as every field of a form does.
   */
  readonly schema?: Schema;
  /** Media types of the part that a form has for it; `text/plain` unless it says otherwise. */
  readonly mediaType?: string;
}

/** What an endpoint answers when all went well. */
interface ReplyWords {
  /** Name of its schema among the document's components. */
  readonly name: string;
  readonly text: Text;
  /** By the field's path, such as `data.nik_alt`; lists leave no trace in it. */
  readonly fields: Readonly<Record<string, Text>>;
  readonly examples: Readonly<Record<string, unknown>>;
}

/** What the documentation says about a route beyond its row. */
export interface RouteWords {
  /** Name of the row, by which generated clients call it. */
  readonly operationId: string;
  /** The row's own summary in Indonesian. */
  readonly summaryInIndonesian: string;
  readonly text: Text;
  /** By the name of the parameter or the field. */
  readonly fields: Readonly<Record<string, FieldWords>>;
  /** Bodies of several forms: which fields each one needs beyond the others, and which do not belong to it. */
  readonly forms?: {
    /** Whether a body must be of exactly one form, or may be of several. */
    readonly keyword: "oneOf" | "anyOf";
    readonly each: readonly { readonly title: string; readonly needs: string; readonly without?: string }[];
  };
  /** Whole bodies or sets of parameters, by a name for each. */
  readonly examples?: Readonly<Record<string, unknown>>;
  /** Input that is wrong: what the endpoint says of it is the example of its 400. */
  readonly mistake?: { readonly where: "body" | "query" | "params"; readonly input: unknown };
  /** Shell lines that ask it; `{base}` stands for the API's address. */
  readonly curl: string;
  readonly reply: ReplyWords;
}

/** By the route's function. */
export type AreaWords = Readonly<Record<string, RouteWords>>;
