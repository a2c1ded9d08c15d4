import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "../../infra/build/build.ts";
import { CommandError, command, rejectExtra, runCommand } from "../../infra/commands/command.ts";
import { openSystem, overHttp } from "../contract/system.ts";
import { isLoopback, readTarget, type TargetOptions } from "../contract/target.ts";
import { withCity } from "../steps/temporary-city.ts";
import { type Finding, renderFindings } from "./finding.ts";
import { LeakWatch } from "./leaks.ts";
import { attack, attackCity, attackNames, type Scale, watchedBy } from "./suite.ts";

const usage = `Usage: npm run attack [-- options]

Attacks the product: generated inputs for every route, every credential at every route, forbidden addresses, bodies that
grow, slow clients and floods; then looks for planted data and secrets in its logs and files. Prints a table of what was
tried and what fell. Without an address it attacks a city of its own, with invented data, on this machine.

  --inputs N                inputs for each route, and forbidden addresses (default: 10000; for a stage: 200)
  --only NAME[,NAME]        some of ${attackNames.join(", ")}
  --seed N                  repeats the inputs of a run that printed this seed

A running stage, without floods, uploads and messages, and only from outside:
  --base-url URL            integration API, with its base path
  --messaging-base-url URL  messaging API
  --credentials FILE        JSON with the fields of .local/dev.json that you have
                            Use a key and an account of your own: guesses use up their limits
  --login                   logs in the employee account once, which leaves a session behind
  --consent HOST[,HOST]     the hosts of both addresses: you may attack them. Not needed for this machine.
  --rate N                  requests a second (default: 20)

Exit code: 0 nothing fell, 2 something fell, 1 the run did not finish.`;

const options = {
  inputs: { type: "string" },
  seed: { type: "string" },
  only: { type: "string" },
  "base-url": { type: "string" },
  "messaging-base-url": { type: "string" },
  credentials: { type: "string" },
  login: { type: "boolean", default: false },
  consent: { type: "string", default: "" },
  rate: { type: "string", default: "20" },
} as const;

const readCount = (option: string, text: string): number => {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new CommandError(`--${option} must be a whole number of at least 1, not ${text}`);
};

/** @throws CommandError for an unknown attack. */
const readOnly = (text: string | undefined): string[] | undefined => {
  const names = text?.split(",");
  const unknown = names?.find((name) => !attackNames.includes(name));
  if (unknown === undefined) return names;
  throw new CommandError(`--only knows ${attackNames.join(", ")}, but not ${unknown}`);
};

/** @throws CommandError unless the operator has named every host that is not this machine. */
const requireConsent = (urls: readonly string[], consent: string): void => {
  const allowed = consent.split(",");
  const missing = urls
    .map((url) => new URL(url).hostname)
    .filter((host) => !isLoopback(host) && !allowed.includes(host));
  if (missing.length === 0) return;
  const hosts = [...new Set(missing)].join(",");
  throw new CommandError(
    `An attack on ${hosts} needs --consent ${hosts}. Attack only what you are responsible for.`,
  );
};

/** Lets requests through at a steady rate. */
const paceOf = (perSecond: number) => {
  let next = performance.now();
  return async () => {
    next = Math.max(next, performance.now()) + 1_000 / perSecond;
    await pause(next - performance.now());
  };
};

const attackStage = async (
  given: TargetOptions & { consent: string; rate: string },
  scale: Scale,
  onFindings: (findings: readonly Finding[]) => void,
) => {
  const { addresses, credentials } = readTarget(given);
  requireConsent(Object.values(addresses), given.consent);
  const send = overHttp(addresses);
  const login = given.login ? await openSystem({ credentials, gateway: true, send }).logIn() : undefined;
  const pace = paceOf(readCount("rate", given.rate));
  const target = { addresses, unlimited: addresses, credentials, token: login?.json?.token, pace };
  return attack(target, scale, onFindings);
};

const attackOwnCity = async (scale: Scale, onFindings: (findings: readonly Finding[]) => void) => {
  await build();
  const watch = new LeakWatch();
  const options = { limitsAddresses: true, ...watchedBy(watch) };
  return withCity(1_000, (city, folder) => attackCity(city, folder, watch, scale, onFindings), options);
};

export const run = command(
  usage,
  options,
  async ({ values, positionals }) => {
    rejectExtra(positionals);
    const isStage =
      values["base-url"] !== undefined ||
      values["messaging-base-url"] !== undefined ||
      values.credentials !== undefined;
    const seed = values.seed === undefined ? randomInt(2 ** 31) : readCount("seed", values.seed);
    const inputs = readCount("inputs", values.inputs ?? (isStage ? "200" : "10000"));
    const scale = {
      inputs,
      seed,
      only: readOnly(values.only),
      uploads: 150,
      slowClients: 300,
      flood: 20_000,
    };
    const onFindings = (findings: readonly Finding[]) => {
      for (const { about, tried, fell } of findings)
        console.error(`${about}: ${tried} tried, ${fell.length} fell`);
    };
    const findings = isStage
      ? await attackStage(values, scale, onFindings)
      : await attackOwnCity(scale, onFindings);
    console.log(`\n${renderFindings(findings)}\n\nSeed: ${seed}`);
    return findings.some(({ fell }) => fell.length > 0) ? 2 : 0;
  },
  { needsArguments: false },
);

if (import.meta.main) await runCommand(run);
