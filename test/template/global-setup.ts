import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { deploy } from "../interpreter/deploy.ts";
import { synthesize } from "../interpreter/synth.ts";
import { makeCityTemplate } from "../steps/city/city-template.ts";
import { startRunningCity } from "../steps/city/running-city.ts";

/** Synthesizes the templates and starts one city that they serve, for all tests of this project. */
export default async function setup(project: TestProject) {
  const stops: (() => unknown)[] = [];
  const stopAll = async () => {
    for (const stop of stops.splice(0).reverse()) await stop();
  };
  try {
    const assembly = mkdtempSync(join(tmpdir(), "assembly-"));
    stops.push(() => rmSync(assembly, { recursive: true, force: true }));
    const [template] = await Promise.all([makeCityTemplate(), synthesize(assembly)]);
    const { city, described, stop } = await startRunningCity(template);
    stops.push(stop);
    const deployment = await deploy(assembly, city);
    stops.push(deployment.stop);
    const { baseUrl, messagingBaseUrl } = deployment;
    project.provide("city", { ...described, baseUrl, messagingBaseUrl, assembly });
    return stopAll;
  } catch (error) {
    await stopAll();
    throw error;
  }
}
