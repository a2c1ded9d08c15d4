import type { City } from "../../infra/local/city.ts";
import { callCommand } from "./command.ts";

/** Returns the command `npm run city -- notify` in a city. */
export const notifyIn =
  (own: { readonly city: City }) =>
  (...args: string[]) =>
    callCommand(
      () => import("../../infra/cli/notify/notify.ts"),
      own.city.variables({ secrets: {}, upstreams: ["MESSENGER_URL"] }),
      ...args,
      ...["--stage", "local"],
    );
