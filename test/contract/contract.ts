import type { Section } from "./case.ts";
import { employeeData } from "./cases/employee-data.ts";
import { employeeLogin } from "./cases/employee-login.ts";
import { messagingAccess } from "./cases/messaging-access.ts";
import { messagingMedia } from "./cases/messaging-media.ts";
import { messagingText } from "./cases/messaging-text.ts";
import { messagingWebhooks } from "./cases/messaging-webhooks.ts";
import { residentList } from "./cases/resident-list.ts";
import { residentSearch } from "./cases/resident-search.ts";
import { residentVerify } from "./cases/resident-verify.ts";
import { tourism } from "./cases/tourism.ts";

/** The contract, service by service. */
export const contract: readonly Section[] = [
  ...[employeeLogin, employeeData, residentList, residentSearch, residentVerify, tourism],
  ...[messagingAccess, messagingText, messagingMedia, messagingWebhooks],
];
