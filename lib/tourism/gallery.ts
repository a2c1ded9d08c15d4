import { withDatabase } from "#lib/db/database.ts";

interface Photo {
  id: number;
  destinationId: string;
  url: string;
  caption: string;
}

/** Lists the photos of one destination, by id. Empty for an unknown destination. */
export const listPhotos = (destinationId: string) =>
  withDatabase(
    (sql) => sql<Photo[]>`
      select id, destination_id as "destinationId", url, caption
      from tourism.photo where destination_id = ${destinationId} order by id`,
  );
