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
