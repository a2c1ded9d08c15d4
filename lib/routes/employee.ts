// wire → code: pegawai employee; tiket ticket; peg_nip, peg_nip_baru nip; peg_nama name; jabatan position;
// jab_name position name; uk_nama, unit_name unit; status_menjabat current-holder flag; kepangkatan rank;
// golongan rank group; pangkat rank name

import * as z from "zod/mini";
import { integrationEnvelope, oauthEnvelope } from "#lib/errors/envelope.ts";
import { otherGrant } from "#lib/errors/table.ts";
import { printable } from "./fields.ts";
import { route } from "./route.ts";

const usernameError =
  "username must be a platform user or NIP: 1 to 64 letters, digits or . _ @ + - characters, without spaces";
const passwordError = "password must be a string of 1 to 256 characters";

/** Normalises a username: what the legacy system treats as one account must be rate-limited as one. */
const Login = z.object(
  {
    username: z
      .string({ error: usernameError })
      .check(z.regex(/^[A-Za-z0-9._@+-]{1,64}$/, { error: usernameError })),
    password: z.string({ error: passwordError }).check(
      z.minLength(1, { error: passwordError }),
      z.maxLength(256, { error: passwordError }),
      z.refine((text) => text.isWellFormed() && !text.includes("\0"), { error: passwordError }),
    ),
  },
  { error: 'The body must be a JSON object: {"username": "…", "password": "…"}' },
);

const LoginToken = z.object({
  token: z.string(),
  expires_in: z.int(),
  refresh_token: z.string(),
  scope: z.string(),
});
export type LoginToken = z.infer<typeof LoginToken>;

const OAuthToken = z.extend(LoginToken, { access_token: z.string(), token_type: z.literal("Bearer") });

const Refresh = z.object({
  grant_type: z.string({ error: "grant_type is missing; send grant_type=refresh_token" }).check(
    z.refine((type) => type === "refresh_token", {
      error: otherGrant.message,
      params: { fault: otherGrant },
    }),
  ),
  refresh_token: z.string({ error: "refresh_token is missing; send the one from the last login or refresh" }),
});

/** Accepts exactly one value, which the error message names. */
const fixed = <T extends string>(name: string, value: T) =>
  z.literal(value, { error: `${name} must be ${value}` });

const oneOf = <T extends string>(name: string, value: T) => z._default(fixed(name, value), value);

const maxTextLength = 100;

/** Text that is forwarded unchanged. */
const text = (name: string) =>
  z
    .string()
    .check(
      z.maxLength(maxTextLength, { error: `${name} must be at most ${maxTextLength} characters` }),
      z.regex(printable, { error: `${name} must not contain control characters` }),
    );

const nipError = "username must be the NIP of the target employee: 18 digits";
const passError = "pass must be the passphrase of that NIP, 1 to 256 characters";

const TicketQuery = z.object({
  user: fixed("user", "servicelogin"),
  username: z.string({ error: nipError }).check(z.regex(/^\d{18}$/, { error: nipError })),
  pass: z
    .string({ error: passError })
    .check(
      z.minLength(1, { error: passError }),
      z.maxLength(256, { error: passError }),
      z.regex(/^[^\0]*$/, { error: passError }),
    ),
});

/** Rejects a parameter of the other form. */
const foreign = (name: string, form: string) =>
  z.optional(z.undefined({ error: `${name} is not a parameter of the ${form} form; remove it` }));

/** A search text; a blank one counts as absent. */
const criterion = () =>
  z.optional(
    z.pipe(
      z.string(),
      z.transform((value: string) => (value.trim() === "" ? undefined : value)),
    ),
  );

const either = <const T extends readonly [string, string]>(name: string, values: T) =>
  z.optional(z.enum(values, { error: `${name} must be ${values.join(" or ")}` }));

/** The parameters of both forms: OpenAPI cannot say that parameters exclude each other. */
const EmployeeParameters = z.object({
  pagetype: z.optional(fixed("pagetype", "serviceauth")),
  page: either("page", ["Web-Service-WBS", "sso"]),
  action: either("action", ["getPegawai", "getDataPegawai"]),
  nip: z.optional(text("nip")),
  nama: z.optional(text("nama")),
  tiket: z.optional(text("tiket")),
});

const ListQuery = z.object({
  form: z.literal("list"),
  pagetype: oneOf("pagetype", "serviceauth"),
  page: oneOf("page", "Web-Service-WBS"),
  action: oneOf("action", "getPegawai"),
  nip: criterion(),
  nama: criterion(),
});

const ticketError = "tiket is missing; get one from GET /v1/simpeg/tiket";

const DetailQuery = z.object({
  form: z.literal("detail"),
  page: fixed("page", "sso"),
  action: fixed("action", "getDataPegawai"),
  tiket: z.string({ error: ticketError }).check(z.minLength(1, { error: ticketError })),
  pagetype: foreign("pagetype", "detail"),
  nip: foreign("nip", "detail"),
  nama: foreign("nama", "detail"),
});

/** The parameters select the form: any parameter of the detail form selects it. */
const EmployeeQuery = z.pipe(
  EmployeeParameters,
  z.pipe(
    z.transform((query: z.infer<typeof EmployeeParameters>) => ({
      ...query,
      form:
        query.page === "sso" || query.action === "getDataPegawai" || query.tiket !== undefined
          ? "detail"
          : "list",
    })),
    z.discriminatedUnion("form", [ListQuery, DetailQuery]),
  ),
);

const EmployeeSummary = z.object({
  peg_nip_baru: z.string(),
  peg_nama: z.string(),
  jab_name: z.string(),
  uk_nama: z.string(),
});

const EmployeeList = z.object({ status: z.literal("success"), result: z.array(EmployeeSummary) });
export type EmployeeList = z.infer<typeof EmployeeList>;

const Position = z.object({ unit_name: z.string(), jab_name: z.string(), status_menjabat: z.string() });
const Rank = z.object({ golongan: z.string(), pangkat: z.string() });

const EmployeeDetail = z.object({
  status: z.literal("success"),
  message: z.string(),
  result: z.object({
    pegawai: z.object({ peg_nama: z.string(), peg_nip: z.string(), url_photo: z.string() }),
    jabatan: z.array(Position),
    kepangkatan: z.array(Rank),
  }),
});
export type EmployeeDetail = z.infer<typeof EmployeeDetail>;

const EmployeeReply = z.union([EmployeeList, EmployeeDetail]);

const Ticket = z.object({ tiket: z.string() });
export type Ticket = z.infer<typeof Ticket>;

export const login = /* @__PURE__ */ route({
  method: "POST",
  fn: "employee/login",
  path: "/v1/simpeg/auth/login",
  summary: "Exchanges account credentials for an access token and a refresh token",
  auth: { kind: "public" },
  body: Login,
  reply: LoginToken,
  errors: integrationEnvelope,
  failures: ["wrongLogin", "tooManyAttempts"],
  secrets: {
    DATABASE_SECRET_ID: "database/employee",
    PEPPER_SECRET_ID: "attempt-pepper",
    TOKEN_KEY_SECRET_ID: "token-key",
  },
  upstreams: ["LEGACY_AUTH_URL"],
  // each call reaches the legacy system, which has other users too
  throttle: { requestsPerSecond: 50, burst: 100 },
  timeoutSeconds: 10,
  memoryMb: 512,
});

export const refresh = /* @__PURE__ */ route({
  method: "POST",
  fn: "employee/refresh",
  path: "/v1/simpeg/auth/refresh",
  summary: "Exchanges a refresh token for the next access token and refresh token",
  auth: { kind: "public" },
  body: Refresh,
  encoding: "form",
  reply: OAuthToken,
  errors: oauthEnvelope,
  failures: ["spentToken", "otherGrant", "unconfirmed"],
  secrets: { DATABASE_SECRET_ID: "database/employee", TOKEN_KEY_SECRET_ID: "token-key" },
  upstreams: ["LEGACY_AUTH_URL"],
  timeoutSeconds: 10,
  memoryMb: 512,
});

export const getTicket = /* @__PURE__ */ route({
  method: "GET",
  fn: "employee/ticket",
  path: "/v1/simpeg/tiket",
  summary: "Issues a session ticket for an employee",
  auth: { kind: "bearer", scope: "employee:ticket" },
  query: TicketQuery,
  reply: Ticket,
  errors: integrationEnvelope,
  failures: ["ticketRefused", "tooManyAttempts"],
  secrets: { DATABASE_SECRET_ID: "database/employee-ticket", PEPPER_SECRET_ID: "attempt-pepper" },
  upstreams: ["EMPLOYEE_SYSTEM_URL"],
  timeoutSeconds: 10,
  memoryMb: 512,
});

export const readEmployees = /* @__PURE__ */ route({
  method: "GET",
  fn: "employee/employees",
  path: "/v1/simpeg/pegawai",
  summary: "Searches employees, or with a ticket returns one employee's profile",
  auth: { kind: "bearer", scope: "employee:read" },
  query: EmployeeQuery,
  reply: EmployeeReply,
  errors: integrationEnvelope,
  failures: ["ticketNotFound", "tooManyAttempts"],
  // for the detail form
  secrets: { DATABASE_SECRET_ID: "database/employee-ticket", PEPPER_SECRET_ID: "attempt-pepper" },
  upstreams: ["EMPLOYEE_SYSTEM_URL"],
  timeoutSeconds: 10,
  memoryMb: 256,
});
