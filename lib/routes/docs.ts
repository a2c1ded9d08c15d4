import * as z from "zod/mini";
import { integrationEnvelope } from "#lib/faults/envelope.ts";
import { PlainReply, route } from "./route.ts";

const langError = "lang must be en or id";
const lang = z._default(z.enum(["en", "id"], { error: langError }), "en");

/** The documents: of both APIs, and of each, because some client generators ignore the servers of a path. */
export const documentNames = ["all", "integration", "messaging"] as const;
export type DocumentName = (typeof documentNames)[number];
const apiError = `api must be ${documentNames.join(", ")} or absent`;

const nameError =
  "name must be 1 to 40 lower-case letters and dashes, or the name of a file that a page links";

const shared = {
  method: "GET",
  auth: { kind: "public" },
  query: z.object({ lang }),
  reply: z.instanceof(PlainReply),
  errors: integrationEnvelope,
  secrets: {},
  cache: { maxAgeSeconds: 300 },
  timeoutSeconds: 10,
  memoryMb: 512,
} as const;

/** `?api=messaging` returns the document of one API, `?lang=id` the one in Indonesian. */
export const readDocument = route({
  ...shared,
  fn: "docs/openapi",
  path: "/openapi.json",
  summary: "The OpenAPI document of one or both APIs",
  query: z.object({ lang, api: z._default(z.enum(documentNames, { error: apiError }), "all") }),
  addresses: ["INTEGRATION_ADDRESS", "MESSAGING_ADDRESS"],
  cors: true,
});

export const readPage = route({
  ...shared,
  fn: "docs/page",
  path: "/docs",
  summary: "The reference page",
  ignoredQuery: "all", // WhatsApp and other apps add parameters to shared links
});

/** Guides in both languages, and the page's script and style sheet. */
export const readFile = route({
  ...shared,
  fn: "docs/file",
  path: "/docs/{name}",
  summary: "A guide, or a file of the reference page",
  ignoredQuery: "all",
  params: z.object({
    name: z.string().check(z.regex(/^[a-z-]{1,40}(\.[0-9a-f]{16}\.(js|css))?$/, { error: nameError })),
  }),
  headers: z.object({ "accept-encoding": z._default(z.string(), "") }),
  faults: ["noGuide"],
  addresses: ["INTEGRATION_ADDRESS", "MESSAGING_ADDRESS"],
});
