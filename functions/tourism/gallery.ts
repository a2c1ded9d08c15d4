import { prepareDatabase } from "#lib/db/database.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { listGallery as route } from "#lib/routes/tourism.ts";
import { listPhotos } from "#lib/tourism/reader.ts";

prepareDatabase();

/** Returns the photos of one destination as a bare array. */
export const handler = endpoint(route).handler(async ({ query }) => {
  const photos = await listPhotos(query.where.destinationId);
  return photos.map(({ id, destinationId, url, caption }) => ({
    id,
    pr_id: destinationId,
    url_foto: url,
    caption,
  }));
});
