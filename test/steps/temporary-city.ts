import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type City, type CityOptions, startCity } from "../../infra/local/city.ts";
import { destroyServer } from "../../infra/local/postgres/server.ts";

/**
 * Runs `work` with a whole city of invented residents in a folder that is removed afterwards, also when
 * the work fails. Ctrl-C aborts `signal`; the work must then throw, because the database would otherwise
 * live on: it is a process of its own.
 */
export const withCity = async <T>(
  residents: number,
  work: (city: City, folder: string, signal: AbortSignal) => Promise<T>,
  options: Partial<CityOptions> = {},
): Promise<T> => {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort(new Error("interrupted"));
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, interrupt);
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  let city: City | undefined;
  try {
    city = await startCity({
      folder,
      port: 0,
      messagingPort: 0,
      residents,
      durable: false,
      onAccess: () => {},
      onLog: () => {},
      onStep: (step) => process.stdout.write(`${step} …\n`),
      ...options,
    });
    return await work(city, folder, interruption.signal);
  } finally {
    await city?.stop();
    await destroyServer(`${folder}/postgres`);
    rmSync(folder, { recursive: true, force: true });
    for (const signal of signals) process.off(signal, interrupt);
  }
};
