import { readFileSync } from "node:fs";
import { composeDocument } from "#lib/openapi/document.ts";
import type { Language } from "#lib/openapi/text.ts";
import { integrationApi } from "../aws/integration-api.ts";
import { messagingApi } from "../aws/messaging-api.ts";

/** Composes the OpenAPI document of this version, with example addresses. */
export const describeProduct = (language: Language) => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return composeDocument([integrationApi, messagingApi], version, language);
};
