import { apiKeyAuthorizer, basicAuthorizer, bearerAuthorizer } from "./authorizer.ts";
import { readDocument, readFile, readPage, readRoot } from "./docs.ts";
import { getTicket, login, readEmployees, refresh } from "./employee.ts";
import { readMessage, sendFile, sendImage, sendMessage } from "./messaging.ts";
import { listResidents, searchResidents } from "./resident.ts";
import type { Route } from "./route.ts";
import { listCategories, listGallery } from "./tourism.ts";

/** The endpoints of each REST API, for tools and tests. A function imports only its area's rows, for a small bundle. */
export const integrationRoutes: readonly Route[] = [
  login,
  refresh,
  getTicket,
  readEmployees,
  listResidents,
  searchResidents,
  listCategories,
  listGallery,
  readDocument,
  readRoot,
  readPage,
  readFile,
];
export const messagingRoutes: readonly Route[] = [sendMessage, sendImage, sendFile, readMessage];
export const routes = [...integrationRoutes, ...messagingRoutes];

export const integrationAuthorizers = [apiKeyAuthorizer, bearerAuthorizer];
export const messagingAuthorizers = [basicAuthorizer];
export const authorizers = [...integrationAuthorizers, ...messagingAuthorizers];
