import { listCategories, listPhotos } from "#lib/tourism/reader.ts";
import type { Measurable } from "./groups.ts";

export async function* tourismCases(): AsyncGenerator<Measurable> {
  yield { name: "tourism: categories", run: () => listCategories() };
  yield { name: "tourism: photos", run: (turn) => listPhotos(`destination-${turn}`) };
}
