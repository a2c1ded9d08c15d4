import * as z from "zod/mini";
import { explainPhone, isPhone, withoutSuffix } from "#lib/messaging/phone.ts";
import { readInstant } from "#lib/messaging/times.ts";
import { isBlank, type Upload } from "./fields.ts";

const maxDurationSeconds = 31_536_000;

const explain = ({ input }: { readonly input?: unknown }) => explainPhone(input);

export const phone = z.pipe(
  z.string({ error: explain }).check(z.refine((text) => isPhone(withoutSuffix(text)), { error: explain })),
  z.transform(withoutSuffix),
);

/** Text as received. NUL and lone surrogates are rejected, because no database stores them. */
export const text = (name: string, maxLength: number) => {
  const error = `${name} must be a text of 1 to ${maxLength} characters`;
  return z.string({ error }).check(
    z.maxLength(maxLength, { error }),
    z.refine((value) => value.trim() !== "" && value.isWellFormed() && !value.includes("\0"), { error }),
  );
};

export const flagError = (name: string) => `${name} must be true or false`;

/** Booleans in a form are text; `on` and `off` are those of a checkbox. */
export const flag = (name: string) => {
  const error = flagError(name);
  return z._default(
    z.pipe(
      z.string({ error }).check(z.regex(/^(true|false|1|0|on|off)$/i, { error })),
      z.transform((value: string) => /^(true|1|on)$/i.test(value)),
    ),
    false,
  );
};

const durationError = `duration must be a whole number of seconds, 0 to ${maxDurationSeconds}; with 0 the message does not disappear`;

export const duration = z
  .int({ error: durationError })
  .check(z.minimum(0, { error: durationError }), z.maximum(maxDurationSeconds, { error: durationError }));

/** As a form has it. */
export const writtenDuration = z.optional(
  z.pipe(
    z.string({ error: durationError }).check(
      z.regex(/^\d{1,8}$/, { error: durationError }),
      z.refine((value) => Number(value) <= maxDurationSeconds, { error: durationError }),
    ),
    z.transform(Number),
  ),
);

/** A time as RFC 3339 writes it, in the notation of a submission. */
export const instant = (error: string) =>
  z.pipe(
    z.string({ error }).check(z.refine((value) => readInstant(value) !== undefined, { error, abort: true })),
    z.transform((value: string) => readInstant(value)?.toISOString() ?? ""),
  );

const isWebAddress = (value: string) => /^https?:\/\//i.test(value) && URL.canParse(value);

export const url = (name: string) => {
  const error = `${name} must be an http or https URL of at most 2048 characters`;
  return z.string({ error }).check(z.maxLength(2_048, { error }), z.refine(isWebAddress, { error }));
};

export const upload = (name: string, instead: string) =>
  z.custom<Upload>((value) => typeof value === "object" && value !== null && "content" in value, {
    error: `${name} must be an uploaded file (curl -F ${name}=@FILE); send a URL in ${instead}`,
  });

export const oneSource = <A extends string, B extends string>(file: A, url: B) =>
  z.refine<{ readonly [K in A | B]?: unknown }>(
    (form) => (form[file] === undefined) !== (form[url] === undefined),
    {
      path: [file],
      error: `Send exactly one of ${file} and ${url}`,
    },
  );

/** An optional field of a JSON body. null and blank, which typed clients send for no value, count as absent. */
export const optional = <T extends string | number | boolean>(field: z.ZodMiniType<T, unknown>) =>
  z.optional(
    z.pipe(
      z.transform((value): unknown => (value === null || isBlank(value) ? undefined : value)),
      z.optional(field),
    ),
  );
