import { withDatabase } from "#lib/db/database.ts";

interface Category {
  id: string;
  name: string;
  active: string;
}

/** Lists all categories, including inactive ones, by id in numeric order. */
export const listCategories = () =>
  withDatabase(
    (sql) => sql<Category[]>`select id, name, active from tourism.category order by length(id), id`,
  );

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
