import { apiKeyAuthorizer, basicAuthorizer, bearerAuthorizer } from "./authorizer.ts";
import * as docs from "./docs.ts";
import * as employee from "./employee.ts";
import * as messaging from "./messaging.ts";
import * as resident from "./resident.ts";
import type { Route } from "./route.ts";
import * as tourism from "./tourism.ts";
import * as webhooks from "./webhooks.ts";

const isRoute = (value: unknown): value is Route =>
  typeof value === "object" && value !== null && "fn" in value;

/** Every row that the modules export is an endpoint. */
const rowsOf = (...areas: readonly object[]): readonly Route[] =>
  areas.flatMap((area) => Object.values(area).filter(isRoute));

/** The endpoints of each REST API, for tools and tests. A function imports only its area's rows, for a small bundle. */
export const integrationRoutes = rowsOf(employee, resident, tourism, docs);
export const messagingRoutes = rowsOf(messaging, webhooks);
export const routes = [...integrationRoutes, ...messagingRoutes];

export const integrationAuthorizers = [apiKeyAuthorizer, bearerAuthorizer];
export const messagingAuthorizers = [basicAuthorizer];
export const authorizers = [...integrationAuthorizers, ...messagingAuthorizers];
