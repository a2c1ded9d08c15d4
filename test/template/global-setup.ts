import { rmSync } from "node:fs";
import type { TestProject } from "vitest/node";
import { installRuntimeClient } from "../runtime-client/install.ts";
import { startRunningCity } from "../steps/running-city.ts";
import { deploy } from "./deploy.ts";
import { synthesize } from "./synth.ts";

/** Synthesizes the templates and starts one city that they serve, for all tests of this project. */
export default async function setup(project: TestProject) {
  installRuntimeClient();
  const assembly = await synthesize();
  const { city, described, stop } = await startRunningCity();
  const deployment = await deploy(assembly, city);
  const { baseUrl, messagingBaseUrl } = deployment;
  project.provide("city", { ...described, baseUrl, messagingBaseUrl, assembly, ways: ["over HTTP"] });
  return async () => {
    await deployment.stop();
    await stop();
    rmSync(assembly, { recursive: true, force: true });
  };
}
