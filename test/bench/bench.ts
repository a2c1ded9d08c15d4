// npm run bench [-- <name> [options]]: the figures, on this machine.
import { benchAccept } from "./accept.ts";
import { benchColdStart } from "./cold-start.ts";
import { benchMemory } from "./memory.ts";
import { benchOutbox } from "./outbox.ts";
import { benchResidents } from "./residents.ts";

const benches: Readonly<Record<string, (args: string[]) => Promise<void>>> = {
  accept: benchAccept,
  "cold-start": benchColdStart,
  memory: benchMemory,
  outbox: benchOutbox,
  residents: benchResidents,
};

const usage = `Usage: npm run bench                       all benches
       npm run bench -- <name> [options]   one of: ${Object.keys(benches).join(", ")}

  accept --sends <n>       messages that the messenger takes over in each round (3000)
  cold-start --pairs <n>   pairs of starts for each function (15)
  memory --messages <n>    texts; 50,000 take half an hour (50000)
         --recipients <n>  different numbers (5000)
  outbox --sends <n>       messages while a transaction is open (10000)
  residents --rows <n>     residents; ten million take half an hour and 15 GB (1000000)
            --beside <n>   the same pages of the list beside so many residents, from a million on`;

const main = async () => {
  const [name, ...args] = process.argv.slice(2);
  if (name === "--help") console.log(usage);
  else if (name === undefined) for (const run of Object.values(benches)) await run([]);
  else if (Object.hasOwn(benches, name)) await benches[name]?.(args);
  else throw new Error(usage);
};

await main().catch((error: Error) => {
  console.error(error.message);
  process.exitCode = 1;
});
// the platform library leaves timers behind
process.exit();
