import type { Finding } from "./finding.ts";

type Allowed = { readonly [K in keyof Finding]?: RegExp } & { readonly because: string };

/** What the life of a stage may bring about. */
const allowed: readonly Allowed[] = [
  {
    resource: /-api\/GatewayApi(Account|CloudWatchRole)\w+$/,
    what: /^orphaned/,
    because:
      "API Gateway has one log role for the account and region: without it all APIs there stop logging",
  },
  {
    configuration: /^dev: /,
    step: /^(destroy|change to)/,
    what: /^lost/,
    because: "A stage that is not production holds invented data",
  },
  {
    configuration: /^prod: /,
    step: /^(destroy$|change to)/,
    // database and network keep theirs
    resource: /^(?!.*(Database|NetworkFlow)Logs)/,
    what: /^lost: log lines$/,
    because: "The log of a function or an API is kept for 90 days, and not without it",
  },
  {
    configuration: /^prod: /,
    step: /^destroy$/,
    resource: /-jobs\/DeadLettersQueue/,
    what: /^lost: messages that wait$/,
    because: "A dead letter is an event to replay in a week, by the function that is deleted with it",
  },
  {
    configuration: /^prod: /,
    step: /^destroy$/,
    resource: /-data\/(Database|Secrets|Anchors)/,
    what: /^orphaned/,
    because: "Production keeps its data, and what a kept server stands on",
  },
  {
    resource: /-operations\/BackupCopyVault/,
    what: /^orphaned/,
    because: "Documented: AWS Backup deletes no vault that holds backups; the next deployment takes it over",
  },
  {
    configuration: /^prod: /,
    step: /^change to/,
    resource: /-data\/Database/,
    what: /^orphaned/,
    because: "The server that a stage has left keeps its data until an operator deletes it",
  },
];

const isAllowed = (finding: Finding): boolean =>
  allowed.some((row) =>
    (["configuration", "step", "resource", "what"] as const).every(
      (key) => row[key]?.test(finding[key]) ?? true,
    ),
  );

/** Leaves out the findings that a stage may bring about. */
export const listUnexpected = (findings: readonly Finding[]): readonly Finding[] =>
  findings.filter((finding) => !isAllowed(finding));
