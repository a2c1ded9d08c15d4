import type { Work } from "../functions.ts";
import { login, renewal, ticket } from "./employee.ts";
import { migration } from "./migration.ts";
import { notification, singleNotification } from "./notification.ts";
import { importing, maintenance, search } from "./residents.ts";
import { filling, rotation } from "./secrets.ts";
import type { Stage } from "./stage.ts";

interface WorkRow {
  readonly name: string;
  /** What is true wherever it is killed; ends the sentence "a killed …". */
  readonly promise: string;
  readonly create: (stage: Stage) => Work;
  /** It writes at least at so many points. */
  readonly fewest: number;
}

export const works: readonly WorkRow[] = [
  { name: "login", promise: "can be repeated, and its session works", create: login, fewest: 6 },
  {
    name: "refresh",
    promise: "can be repeated with the same token, and the session continues",
    create: renewal,
    fewest: 2,
  },
  {
    name: "ticket",
    promise: "can be requested again and used, and no failed attempt is counted",
    create: ticket,
    fewest: 6,
  },
  {
    name: "resident search",
    promise: "has given no answer without its row in the audit, and the next one has both",
    create: search,
    fewest: 2,
  },
  { name: "import", promise: "is completed by the next one, with all totals", create: importing, fewest: 6 },
  {
    name: "rotation",
    promise: "is completed by the next attempt, and the role can log in",
    create: rotation,
    fewest: 6,
  },
  {
    name: "filling of secrets",
    promise: "is completed by the next one, and no secret is replaced",
    create: filling,
    fewest: 10,
  },
  {
    name: "maintenance",
    promise: "is completed by the next run, and all totals and seals are right",
    create: maintenance,
    fewest: 4,
  },
  {
    name: "notification",
    promise: "is completed by the next run, and everyone is notified once",
    create: notification,
    fewest: 10,
  },
  {
    name: "single notification",
    promise: "is completed when it is requested again, with one message",
    create: singleNotification,
    fewest: 4,
  },
  // last: it changes the passwords of the roles
  {
    name: "migration",
    promise: "is completed by the next one, with the schema of one that was not interrupted",
    create: migration,
    fewest: 60,
  },
];
