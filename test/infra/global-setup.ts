import { build } from "../../infra/build.ts";

/** Templates need the bundles, and nothing that runs. */
export default async function setup() {
  await build();
}
