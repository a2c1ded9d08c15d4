import * as z from "zod/mini";
import { integrationEnvelope } from "#lib/errors/envelope.ts";
import { PlainReply, route } from "./route.ts";

const langError = "lang must be en or id";
const language = z.enum(["en", "id"], { error: langError });

/** The documents: of both APIs, and of each, because some client generators ignore the servers of a path. */
export const documentNames = ["all", "integration", "messaging"] as const;
export type DocumentName = (typeof documentNames)[number];
const apiError = `api must be ${documentNames.join(", ")} or absent`;

/** One to three segments, of which none starts with a dot. */
const pathPattern = /^[\w-][\w.-]{0,99}(\/[\w-][\w.-]{0,99}){0,2}$/;

const coding = z.object({ "accept-encoding": z._default(z.string(), "") });

const shared = {
  method: "GET",
  head: true,
  auth: { kind: "public" },
  reply: z.instanceof(PlainReply),
  errors: integrationEnvelope,
  secrets: {},
  addresses: ["INTEGRATION_ADDRESS", "MESSAGING_ADDRESS"],
  cache: { maxAgeSeconds: 300 },
  timeoutSeconds: 10,
  memoryMb: 512,
} as const;

/**
 * English pages stand at `/docs/`, Indonesian ones at `/docs/id/`; `lang` redirects addresses of earlier versions. People
 * follow links to pages, so that no input is invalid.
 */
const page = {
  query: z.object({ lang: z.catch(z.optional(language), undefined) }),
  ignoredQuery: "all", // WhatsApp and other apps add parameters to shared links
  headers: z.extend(coding, { accept: z._default(z.string(), "") }),
} as const;

/** `?api=messaging` returns the document of one API, `?lang=id` the one in Indonesian. */
export const readDocument = route({
  ...shared,
  fn: "docs/openapi",
  path: "/openapi.json",
  summary: "The OpenAPI document of one or both APIs",
  query: z.object({
    lang: z._default(language, "en"),
    api: z._default(z.enum(documentNames, { error: apiError }), "all"),
  }),
  headers: coding,
  cors: true,
});

export const readRoot = route({
  ...shared,
  fn: "docs/root",
  path: "/",
  summary: "Leads to the documentation",
  ignoredQuery: "all",
});

export const readPage = route({
  ...shared,
  ...page,
  fn: "docs/page",
  path: "/docs",
  summary: "The documentation's first page",
});

export const readFile = route({
  ...shared,
  ...page,
  fn: "docs/file",
  path: "/docs/{path+}",
  summary: "A guide, the reference, or a file of theirs",
  // an invalid path is that of no page
  params: z.object({ path: z.catch(z.string().check(z.regex(pathPattern)), "") }),
  failures: ["noGuide"],
});
