import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "../../../infra/build/build.ts";
import { command, exitCodes, readWhole, runCommand, WrongCall } from "../../../infra/cli/command.ts";
import { openSystem, overHttp } from "../../contract/system.ts";
import { isLoopback, readTarget, type TargetOptions } from "../../contract/target.ts";
import { withCity } from "../../steps/temporary-city.ts";
import { type Finding, renderFindings } from "./finding.ts";
import { LeakWatch } from "./leaks.ts";
import { attack, attackCity, attackNames, type Scale, watchedBy } from "./suite.ts";

const readOnly = (text: string): string[] => {
  const names = text.split(",");
  const unknown = names.find((name) => !attackNames.includes(name));
  if (unknown === undefined) return names;
  throw new WrongCall(`--only knows ${attackNames.join(", ")}, but not ${unknown}`);
};

/** @throws WrongCall unless the operator has named every host that is not this machine. */
const requireConsent = (urls: readonly string[], consent: string): void => {
  const allowed = consent.split(",");
  const missing = urls
    .map((url) => new URL(url).hostname)
    .filter((host) => !isLoopback(host) && !allowed.includes(host));
  if (missing.length === 0) return;
  const hosts = [...new Set(missing)].join(",");
  throw new WrongCall(
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
  given: TargetOptions & { consent: string; rate: number },
  scale: Scale,
  onFindings: (findings: readonly Finding[]) => void,
) => {
  const { addresses, credentials } = readTarget(given);
  requireConsent(Object.values(addresses), given.consent);
  const send = overHttp(addresses);
  const login = given.login ? await openSystem({ credentials, send }).logIn() : undefined;
  const pace = paceOf(given.rate);
  const target = { addresses, unlimited: addresses, credentials, token: login?.json?.token, pace };
  return attack(target, scale, onFindings);
};

const attackOwnCity = async (scale: Scale, onFindings: (findings: readonly Finding[]) => void) => {
  await build();
  const watch = new LeakWatch();
  const options = { limitsAddresses: true, ...watchedBy(watch) };
  return withCity(1_000, (city, folder) => attackCity(city, folder, watch, scale, onFindings), options);
};

const about = `Attack the product: generated inputs for every route, every credential at every route, forbidden addresses, bodies that
grow, slow clients and floods; then look for planted data and secrets in its logs and files. Print a table of what was
tried and what fell; if anything fell, the exit code is 3.

Without an address it attacks a system of its own, with invented data, on this machine. A running stage is attacked only
from outside, without floods, uploads and messages.`;

const most = 999_999_999;

export const run = command("attack", about, (program, answer) => {
  program
    .option(
      "--inputs <number>",
      "inputs for each route, and forbidden addresses; default: 10000, or 200 for a stage",
      readWhole("--inputs", 1, most),
    )
    .option("--only <names>", `some of ${attackNames.join(",")}`, readOnly)
    .option(
      "--seed <number>",
      "repeat the inputs of a run that printed this seed",
      readWhole("--seed", 1, 2 ** 31),
    )
    .option("--base-url <url>", "integration API of a stage, with its base path")
    .option("--messaging-base-url <url>", "messaging API of a stage")
    .option(
      "--credentials <file>",
      "JSON with the fields of .local/dev.json that you have; use a key and an account of your own: guesses use up their limits",
    )
    .option("--login", "log in the employee account once, which leaves a session behind", false)
    .option(
      "--consent <hosts>",
      "the hosts of both addresses: you may attack them; not needed for this machine",
      "",
    )
    .option("--rate <number>", "requests a second to a stage", readWhole("--rate", 1, most), 20)
    .action(
      answer(async ({ only, ...given }) => {
        const { baseUrl, messagingBaseUrl, credentials } = given;
        const isStage = [baseUrl, messagingBaseUrl, credentials].some((value) => value !== undefined);
        const seed = given.seed ?? randomInt(2 ** 31);
        const inputs = given.inputs ?? (isStage ? 200 : 10_000);
        const scale = { inputs, seed, only, uploads: 150, slowClients: 300, flood: 20_000 };
        const onFindings = (findings: readonly Finding[]) => {
          for (const { about, tried, fell } of findings)
            console.error(`${about}: ${tried} tried, ${fell.length} fell`);
        };
        const findings = isStage
          ? await attackStage(given, scale, onFindings)
          : await attackOwnCity(scale, onFindings);
        const code = findings.some(({ fell }) => fell.length > 0) ? exitCodes.partly : exitCodes.done;
        return { text: `\n${renderFindings(findings)}\n\nSeed: ${seed}`, json: { seed, findings }, code };
      }),
    );
});

if (import.meta.main) await runCommand(run);
