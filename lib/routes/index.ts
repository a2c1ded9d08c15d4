import { apiKeyAuthorizer, bearerAuthorizer } from "./authorizer.ts";
import { getTicket, login, readEmployees, refresh } from "./employee.ts";
import { listResidents, searchResidents } from "./resident.ts";
import type { Route } from "./route.ts";
import { listCategories, listGallery } from "./tourism.ts";

/** Every endpoint. For tools and tests: a function imports its own area's rows, so that bundles stay small. */
export const routes: readonly Route[] = [
  login,
  refresh,
  getTicket,
  readEmployees,
  listResidents,
  searchResidents,
  listCategories,
  listGallery,
];

export const authorizers = [apiKeyAuthorizer, bearerAuthorizer];
