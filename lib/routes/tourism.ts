// wire → code: pariwisata tourism; kategori category; destinasi destination; galeri gallery;
// ktipe_id, ktipe_nama, ktipe_active id, name, active of a category; pr_id destinationId; url_foto photoUrl
import * as z from "zod/mini";
import { integrationEnvelope } from "#lib/errors/envelope.ts";
import { route } from "./route.ts";

const Category = z.object({ ktipe_id: z.string(), ktipe_nama: z.string(), ktipe_active: z.string() });
const GalleryItem = z.object({ id: z.int(), pr_id: z.string(), url_foto: z.string(), caption: z.string() });

/** Characters of a destination id; none has a meaning in a filter expression. */
export const destinationIdPattern = /^[\p{L}\p{N}_.-]{1,64}$/u;

const whereError =
  "where must be given once, in the form (pr_id,eq,<destination id>), for example ?where=(pr_id,eq,12)";

/** The only filter expression of the contract; anything else is rejected. */
const Where = z.pipe(
  z.string({ error: whereError }).check(
    z.refine((text) => destinationIdPattern.test(text.match(/^\(pr_id,eq,(.*)\)$/su)?.[1] ?? ""), {
      error: whereError,
    }),
  ),
  z.transform((text: string) => ({ destinationId: text.slice("(pr_id,eq,".length, -1) })),
);

const shared = {
  method: "GET",
  head: true,
  auth: { kind: "public" },
  errors: integrationEnvelope,
  secrets: { DATABASE_SECRET_ID: "database/tourism" },
  cache: { maxAgeSeconds: 300 },
  cors: true,
  timeoutSeconds: 10,
  memoryMb: 512,
} as const;

export const listCategories = route({
  ...shared,
  fn: "tourism/categories",
  path: "/v1/pariwisata/kategori",
  summary: "Lists the tourism categories",
  reply: z.object({ data: z.array(Category) }),
});

export const listGallery = route({
  ...shared,
  fn: "tourism/gallery",
  path: "/v1/pariwisata/destinasi/galeri",
  summary: "Lists the photos of one destination",
  query: z.object({ where: Where }),
  reply: z.array(GalleryItem),
});
