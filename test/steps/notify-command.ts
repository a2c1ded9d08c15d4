import type { City } from "../../infra/local/city.ts";
import { callCommand } from "./command.ts";

/** What the command needs to reach a city's database, messenger and pepper, as an operator of a stage sets it. */
const notifySettings = (city: City) =>
  city.variables({
    secrets: {
      DATABASE_SECRET_ID: "database/notify",
      PEPPER_SECRET_ID: "opt-out-pepper",
      MESSENGER_TOKEN_SECRET_ID: "messenger-token",
    },
    upstreams: ["MESSENGER_URL"],
  });

/** Returns the command `npm run notify` in a city. */
export const notifyIn =
  (own: { readonly city: City }) =>
  (...args: string[]) =>
    callCommand(() => import("../../infra/cli/notify/notify.ts"), notifySettings(own.city), ...args);
