import type { TestProject } from "vitest/node";
import { buildBundles } from "./bundles.ts";
import { makeCityTemplate } from "./city/city-template.ts";
import { startRunningCity } from "./city/running-city.ts";

/** Builds the bundles and starts one city for all tests. */
export default async function setup(project: TestProject) {
  const [template] = await Promise.all([makeCityTemplate(), buildBundles()]);
  const { described, stop } = await startRunningCity(template);
  project.provide("city", { ...described, assembly: undefined });
  return stop;
}
