import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { examples } from "../../infra/aws/config.ts";
import { Refused, type Surveyed } from "../../infra/aws/preflight.ts";
import { run, survey } from "../../infra/cli/preflight.ts";
import { callCommand } from "../steps/command.ts";
import { composeWith } from "./composed-stage.ts";

const [domain] = examples.domain as [{ integrationHost: string; certificateArn: string }];
const region = "ap-southeast-3";

/** What an account answers that lacks nothing, by the AWS CLI's service and command. */
const ready: Readonly<Record<string, unknown>> = {
  "account get-region-opt-status": { RegionName: region, RegionOptStatus: "ENABLED" },
  "ssm get-parameter": { Parameter: { Name: "/cdk-bootstrap/hnb659fds/version", Value: "30" } },
  "iam get-role": { Role: { RoleName: "AWSServiceRoleForECS" } },
  "lambda get-account-settings": {
    AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions: 1_000 },
  },
  "cloudformation describe-stacks": new Refused("ValidationError"),
  "apigateway get-account": { throttleSettings: { burstLimit: 5_000, rateLimit: 10_000 } },
  "secretsmanager list-secrets": { SecretList: [] },
  "sts get-caller-identity": { Account: "111122223333" },
  "acm describe-certificate": {
    Certificate: { Status: "ISSUED", SubjectAlternativeNames: ["*.city.example"] },
  },
};

interface Recorded {
  readonly answers?: Readonly<Record<string, unknown>>;
  readonly changed?: Readonly<Record<string, unknown>>;
  readonly resolve6?: Surveyed["resolve6"];
  readonly platforms?: Surveyed["platforms"];
  readonly baseImage?: string;
}

const pinned = `node:24-slim@sha256:${"0".repeat(64)}`;

/** Asks a stage's checks with recorded answers. @returns the problems by check. */
const ask = async ({ answers = {}, changed = {}, ...tools }: Recorded) => {
  const all = { ...ready, ...answers };
  const findings = await survey({
    config: composeWith({ stage: "prod", domain, ...changed }).config,
    region,
    aws: async (service, action, ...rest) => {
      expect(rest.slice(-2)).toEqual(["--region", region]);
      const answer = all[`${service} ${action}`];
      if (answer instanceof Error) throw answer;
      return answer;
    },
    resolve6: async () => ["2001:db8::1"],
    platforms: async () => "Platforms: linux/amd64, linux/arm64",
    baseImage: pinned,
    ...tools,
  });
  return Object.fromEntries(findings.flatMap(({ check, problem }) => (problem ? [[check, problem]] : [])));
};

test("an account that lacks nothing needs nothing", async () => expect(await ask({})).toEqual({}));

test("Jakarta's own quotas of API Gateway are enough", async () =>
  expect(await ask({ answers: { "apigateway get-account": jakarta } })).toEqual({}));

test("a vault of the same account is right, in any region", async () =>
  expect(await ask({ changed: { backupVaultArn: examples.backupVaultArn[0] } })).toEqual({}));

test("the command that pins the base image changes the line of the Dockerfile that says it", async () => {
  const { "base image of the messenger": problem } = await ask({ baseImage: "node:24-slim" });
  const [, script = ""] = /sed -i.old "(.+)" infra/.exec(problem?.fix ?? "") ?? [];
  const dockerfile = readFileSync("infra/aws/messenger.Dockerfile", "utf8");
  const written = script.replace("$DIGEST", `sha256:${"0".repeat(64)}`);
  const changed = execFileSync("sed", [written], { input: dockerfile }).toString();
  expect(changed).toBe(dockerfile.replace(/^FROM node:24-slim$/m, `FROM ${pinned}`));
  expect(changed).not.toBe(dockerfile);
});

const jakarta = { throttleSettings: { burstLimit: 1_250, rateLimit: 2_500 } };
const reduced = { throttleSettings: { burstLimit: 500, rateLimit: 1_000 } };
const small = { AccountLimit: { ConcurrentExecutions: 10, UnreservedConcurrentExecutions: 10 } };
const others = { AccountLimit: { ConcurrentExecutions: 1_000, UnreservedConcurrentExecutions: 400 } };
const deleted = { SecretList: [{ Name: "municipal/prod/session-key", DeletedDate: "2025-01-01T00:00:00Z" }] };
const pending = { Certificate: { Status: "PENDING_VALIDATION", SubjectAlternativeNames: [] } };
const narrow = { Certificate: { Status: "ISSUED", SubjectAlternativeNames: [domain.integrationHost] } };

test.each<[string, string, Recorded, string, string]>([
  [
    "a region that is off",
    "region",
    { answers: { "account get-region-opt-status": { RegionOptStatus: "DISABLED" } } },
    "DISABLED",
    "aws account enable-region --region-name ap-southeast-3",
  ],
  [
    "an account without the CDK",
    "bootstrap of the CDK",
    { answers: { "ssm get-parameter": new Refused("ParameterNotFound") } },
    "not set up",
    "npx cdk bootstrap",
  ],
  [
    "an account that has never had a database",
    "service-linked role of rds",
    { answers: { "iam get-role": new Refused("NoSuchEntity") } },
    "AWSServiceRoleForRDS",
    "aws iam create-service-linked-role --aws-service-name rds.amazonaws.com",
  ],
  [
    "an account that has never run a container",
    "service-linked role of ecs",
    { answers: { "iam get-role": new Refused("NoSuchEntity") } },
    "AWSServiceRoleForECS",
    "aws iam create-service-linked-role --aws-service-name ecs.amazonaws.com",
  ],
  [
    "a new account's quota",
    "concurrency of Lambda",
    { answers: { "lambda get-account-settings": small } },
    "quota is 10",
    "--quota-code L-B99A9384 --desired-value 1000",
  ],
  [
    "a stage that reserves more than the account may",
    "concurrency of Lambda",
    { changed: { functionConcurrency: 600 } },
    "reserves",
    "functionConcurrency to 0",
  ],
  [
    "an account with less of API Gateway",
    "rate of API Gateway",
    { answers: { "apigateway get-account": reduced } },
    "bursts of 500",
    "--quota-code L-8A5B8E43 --desired-value 2500",
  ],
  [
    "a stage that was deleted before",
    "names of secrets",
    { answers: { "secretsmanager list-secrets": deleted } },
    "municipal/prod/session-key",
    "aws secretsmanager restore-secret",
  ],
  [
    "a legacy system without IPv6",
    "IPv6 addresses of the legacy systems",
    { resolve6: () => Promise.reject(new Error("ENODATA")) },
    "No AAAA record: legacy.city.example, simpeg.city.example",
    '"egress": "nat"',
  ],
  [
    "a certificate that is not validated",
    "certificate",
    { answers: { "acm describe-certificate": pending } },
    "PENDING_VALIDATION",
    "DNS records",
  ],
  [
    "a certificate for one host",
    "certificate",
    { answers: { "acm describe-certificate": narrow } },
    "does not cover messages.city.example",
    "aws acm request-certificate",
  ],
  [
    "a certificate of another region",
    "certificate",
    {
      changed: { domain: { ...domain, certificateArn: domain.certificateArn.replace(region, "us-east-1") } },
    },
    "not in ap-southeast-3",
    "aws acm request-certificate --region ap-southeast-3",
  ],
  [
    "a machine without Docker",
    "Docker for arm64",
    { platforms: () => Promise.reject(new Error("ENOENT")) },
    "does not run",
    "messagingImage",
  ],
  [
    "a Docker for one processor",
    "Docker for arm64",
    { platforms: async () => "Platforms: linux/amd64" },
    "arm64",
    "binfmt --install arm64",
  ],
  [
    "a base image that may change",
    "base image of the messenger",
    { baseImage: "node:24-slim" },
    "node:24-slim is a tag",
    "docker buildx imagetools inspect node:24-slim",
  ],
  [
    "a vault of another account",
    "account of the backup vault",
    { changed: { backupVaultArn: "arn:aws:backup:ap-southeast-1:444455556666:backup-vault:municipal" } },
    "in account 444455556666",
    "aws backup create-backup-vault --region ap-southeast-1",
  ],
  [
    "credentials that may not look",
    "concurrency of Lambda",
    { answers: { "lambda get-account-settings": new Refused("AccessDeniedException") } },
    "AccessDeniedException",
    "credentials",
  ],
])("%s is found, with what corrects it", async (_, check, recorded, says, fix) => {
  const { [check]: problem } = await ask(recorded);
  expect(problem).toEqual({ says: expect.stringContaining(says), fix: expect.stringContaining(fix) });
});

test("what a stage reserves is counted once: not again when it exists, and beside what others reserve", async () => {
  const answers = { "lambda get-account-settings": others };
  const existing = { ...answers, "cloudformation describe-stacks": { Stacks: [{}] } };
  expect(await ask({ answers: existing })).toEqual({});
  expect(Object.keys(await ask({ answers }))).toEqual(["concurrency of Lambda"]);
});

describe("what the stage does not use is not asked", () => {
  test.each<[string, Recorded]>([
    [
      "IPv6",
      { changed: { network: { egress: "nat" } }, resolve6: () => Promise.reject(new Error("ENODATA")) },
    ],
    [
      "Docker",
      {
        changed: { messagingImage: examples.messagingImage[0] },
        platforms: () => Promise.reject(new Error("ENOENT")),
        baseImage: "node:24-slim",
      },
    ],
    ["a digest, outside of production", { changed: { stage: "dev" }, baseImage: "node:24-slim" }],
  ])("%s", async (_, recorded) => expect(await ask(recorded)).toEqual({}));
});

test("the command needs a stage", async () =>
  expect(await callCommand(async () => ({ run }), {})).toMatchObject({
    status: 2,
    errors: expect.stringContaining("--stage"),
  }));
