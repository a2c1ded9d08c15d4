import { withDatabase } from "#lib/db/database.ts";

interface Category {
  id: string;
  name: string;
  active: string;
}

/** Every category as it is stored, by id: numbers in their own order. `active` is not filtered. */
export const listCategories = () =>
  withDatabase(
    (sql) => sql<Category[]>`select id, name, active from tourism.category order by length(id), id`,
  );
