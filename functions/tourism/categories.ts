import { prepareDatabase } from "#lib/db/database.ts";
import { endpoint } from "#lib/http/endpoint.ts";
import { listCategories as route } from "#lib/routes/tourism.ts";
import { listCategories } from "#lib/tourism/reader.ts";

prepareDatabase();

/** Returns every tourism category as stored. */
export const handler = endpoint(route).handler(async () => {
  const categories = await listCategories();
  return {
    data: categories.map(({ id, name, active }) => ({
      ktipe_id: id,
      ktipe_nama: name,
      ktipe_active: active,
    })),
  };
});
