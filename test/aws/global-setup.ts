import { buildBundles } from "../steps/bundles.ts";

/** Templates need the bundles, and nothing that runs. */
export default buildBundles;
