import type { MutantTable } from "./mutant.ts";
import { acceptance } from "./table/acceptance.ts";
import { account } from "./table/account.ts";
import { callbacks } from "./table/callbacks.ts";
import { channel } from "./table/channel.ts";
import { commands } from "./table/commands.ts";
import { ofConsole } from "./table/console.ts";
import { download } from "./table/download.ts";
import { employee } from "./table/employee.ts";
import { functions } from "./table/functions.ts";
import { gateway } from "./table/gateway.ts";
import { http } from "./table/http.ts";
import { imports } from "./table/import.ts";
import { infrastructure } from "./table/infrastructure.ts";
import { leader } from "./table/leader.ts";
import { media } from "./table/media.ts";
import { notification } from "./table/notification.ts";
import { operations } from "./table/operations.ts";
import { options } from "./table/options.ts";
import { outbox } from "./table/outbox.ts";
import { pace } from "./table/pace.ts";
import { partner } from "./table/partner.ts";
import { readsOf } from "./table/reads-of.ts";
import { relay } from "./table/relay.ts";
import { reply } from "./table/reply.ts";
import { resident } from "./table/resident.ts";
import { sender } from "./table/sender.ts";
import { shown } from "./table/shown.ts";
import { stacks } from "./table/stacks.ts";
import { subject } from "./table/subject.ts";
import { terms } from "./table/terms.ts";
import { walk } from "./table/walk.ts";

/** Every mutant, by the area of the product that it breaks. */
export const table: MutantTable = {
  http,
  employee,
  partner,
  resident,
  "reads-of": readsOf,
  walk,
  outbox,
  options,
  acceptance,
  terms,
  account,
  channel,
  callbacks,
  sender,
  pace,
  relay,
  reply,
  leader,
  media,
  download,
  console: ofConsole,
  shown,
  notification,
  import: imports,
  gateway,
  infrastructure,
  stacks,
  subject,
  operations,
  commands,
  functions,
};
