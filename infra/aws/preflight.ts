import type { Rate } from "#lib/routes/route.ts";
import { capacityOf } from "./capacity.ts";
import type { Config } from "./config.ts";
import { integrationApi } from "./integration-api.ts";
import { messagingApi } from "./messaging-api.ts";

/** What the checks ask; tests answer with recorded answers. */
export interface Surveyed {
  readonly config: Config;
  readonly region: string;
  /** Runs a command of the AWS CLI. @returns its JSON. @throws Refused, or Error when it cannot run. */
  readonly aws: (...args: readonly string[]) => Promise<unknown>;
  /** IPv6 addresses of a host. */
  readonly resolve6: (host: string) => Promise<readonly string[]>;
  /** What the messenger's image is built from, as `messenger.Dockerfile` says. */
  readonly baseImage: string;
  /** Platforms for which Docker can build here. @throws Error when it does not run. */
  readonly platforms: () => Promise<string>;
}

/** AWS refused a call; `code` is its error, such as `NoSuchEntity`. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: string;

  constructor(code: string) {
    super(`AWS answered ${code}`);
    this.code = code;
  }
}

export interface Problem {
  readonly says: string;
  /** The command, or the change of `cdk.json`, that corrects it. */
  readonly fix: string;
}

export interface Check {
  readonly name: string;
  readonly isNeeded?: (config: Config) => boolean;
  readonly find: (stage: Surveyed) => Promise<Problem | undefined>;
}

/** @returns undefined when AWS answers with this error. */
const unless = async <T>(code: string, asked: Promise<T>): Promise<T | undefined> => {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Refused && error.code === code) return undefined;
    throw error;
  }
};

/** AWS creates these roles with the first resource, which then often fails because IAM needs some seconds to know them. */
const serviceRole = (service: string, role: string): Check => ({
  name: `service-linked role of ${service}`,
  find: async ({ aws }) =>
    (await unless("NoSuchEntity", aws("iam", "get-role", "--role-name", role)))
      ? undefined
      : {
          says: `The role ${role} does not exist.`,
          fix: `aws iam create-service-linked-role --aws-service-name ${service}.amazonaws.com`,
        },
});

/**
 * Lambda keeps this many for functions without a reserved concurrency.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html
 */
const unreservable = 100;

/** Quotas have codes in every region. @see https://docs.aws.amazon.com/general/latest/gr/lambda-service.html, apigateway.html */
const quota = (service: string, code: string, least: number, region: string) =>
  `aws service-quotas request-service-quota-increase --region ${region} --service-code ${service} --quota-code ${code} --desired-value ${least}`;

const lambdaConcurrency: Check = {
  name: "concurrency of Lambda",
  find: async ({ aws, config, region }) => {
    const { AccountLimit: limit } = (await aws("lambda", "get-account-settings")) as {
      AccountLimit: { ConcurrentExecutions: number; UnreservedConcurrentExecutions: number };
    };
    const needed = [...capacityOf(config).reserved.values()].reduce((sum, one) => sum + one, 0);
    const fix = `${quota("lambda", "L-B99A9384", config.accountConcurrency, region)}; or set functionConcurrency to 0`;
    if (limit.ConcurrentExecutions < config.accountConcurrency)
      return {
        says: `The account's quota is ${limit.ConcurrentExecutions}, accountConcurrency is ${config.accountConcurrency}.`,
        fix,
      };
    const stack = `municipal-${config.stage}-integration-api`;
    // a stage that exists has reserved its part already
    const exists = await unless(
      "ValidationError",
      aws("cloudformation", "describe-stacks", "--stack-name", stack),
    );
    return !exists && needed > 0 && limit.UnreservedConcurrentExecutions - needed < unreservable
      ? { says: `The stage reserves ${needed} of ${limit.UnreservedConcurrentExecutions}.`, fix }
      : undefined;
  },
};

const most = (rates: readonly (Rate | undefined)[], field: keyof Rate): number =>
  Math.max(...rates.map((rate) => rate?.[field] ?? 0));

/**
 * The regions opened since 2017, of which Jakarta is one, allow 2,500 requests a second and bursts of 1,250.
 * @see https://docs.aws.amazon.com/apigateway/latest/developerguide/limits.html
 */
const gatewayRate: Check = {
  name: "rate of API Gateway",
  find: async ({ aws, region }) => {
    const { throttleSettings: allowed } = (await aws("apigateway", "get-account")) as {
      throttleSettings: { burstLimit: number; rateLimit: number };
    };
    const rates = [integrationApi, messagingApi].flatMap(({ throttle, routes }) => [
      throttle,
      ...routes.map((route) => route.throttle),
    ]);
    const [burst, rate] = [most(rates, "burst"), most(rates, "requestsPerSecond")];
    if (allowed.burstLimit >= burst && allowed.rateLimit >= rate) return undefined;
    // AWS derives the burst from the rate, and changes only the rate on request
    const wanted = Math.max(rate, Math.ceil((burst / allowed.burstLimit) * allowed.rateLimit));
    return {
      says: `The account allows ${allowed.rateLimit} requests a second and bursts of ${allowed.burstLimit}; the APIs allow ${rate} and ${burst}.`,
      fix: quota("apigateway", "L-8A5B8E43", wanted, region),
    };
  },
};

const regionEnabled: Check = {
  name: "region",
  find: async ({ aws, region }) => {
    const { RegionOptStatus: status } = (await aws(
      ...["account", "get-region-opt-status", "--region-name", region],
    )) as { RegionOptStatus: string };
    return status.startsWith("ENABLED")
      ? undefined
      : {
          says: `The account has not enabled ${region}: ${status}.`,
          fix: `aws account enable-region --region-name ${region}`,
        };
  },
};

const bootstrapped: Check = {
  name: "bootstrap of the CDK",
  find: async ({ aws }) =>
    (await unless(
      "ParameterNotFound",
      aws("ssm", "get-parameter", "--name", "/cdk-bootstrap/hnb659fds/version"),
    ))
      ? undefined
      : { says: "The CDK is not set up in this account and region.", fix: "npx cdk bootstrap" },
};

/** A deleted secret keeps its name for up to 30 days. */
const secretNames: Check = {
  name: "names of secrets",
  find: async ({ aws, config }) => {
    const { SecretList: found } = (await aws(
      ...["secretsmanager", "list-secrets", "--include-planned-deletion"],
      ...["--filters", `Key=name,Values=municipal/${config.stage}/`],
    )) as { SecretList: { Name: string; DeletedDate?: string }[] };
    const deleted = found.filter(({ DeletedDate }) => DeletedDate).map(({ Name }) => Name);
    return deleted.length === 0
      ? undefined
      : {
          says: `Deleted secrets still have the names ${deleted.join(", ")}.`,
          fix: `for name in ${deleted.join(" ")}; do aws secretsmanager restore-secret --secret-id "$name"; done, then deploy with --import-existing-resources`,
        };
  },
};

const addresses: Check = {
  name: "IPv6 addresses of the legacy systems",
  isNeeded: ({ network }) => network.egress === "ipv6",
  find: async ({ config, resolve6 }) => {
    const hosts = [...new Set(Object.values(config.upstream).map((url) => new URL(url).hostname))];
    const found = await Promise.all(hosts.map((host) => resolve6(host).catch(() => [])));
    const missing = hosts.filter((_, index) => found[index]?.length === 0);
    return missing.length === 0
      ? undefined
      : {
          says: `No AAAA record: ${missing.join(", ")}.`,
          fix: 'ask their operators for one, or set "network": { "egress": "nat" }',
        };
  },
};

const covers = (host: string) => (name: string) =>
  name === host || (name.startsWith("*.") && host.slice(host.indexOf(".")) === name.slice(1));

const certificate: Check = {
  name: "certificate",
  isNeeded: ({ domain }) => domain !== undefined,
  find: async ({ aws, config: { domain }, region }) => {
    if (!domain) return undefined;
    const arn = domain.certificateArn;
    const fix = `aws acm request-certificate --region ${region} --validation-method DNS --domain-name ${domain.integrationHost} --subject-alternative-names ${domain.messagingHost}`;
    if (arn.split(":")[3] !== region) return { says: `The certificate is not in ${region}.`, fix };
    const asked = aws("acm", "describe-certificate", "--certificate-arn", arn);
    const answer = (await unless("ResourceNotFoundException", asked)) as
      | { Certificate: { Status: string; SubjectAlternativeNames: string[] } }
      | undefined;
    if (!answer) return { says: "The certificate does not exist.", fix };
    const { Status: status, SubjectAlternativeNames: names } = answer.Certificate;
    if (status !== "ISSUED")
      return {
        says: `The certificate is ${status}.`,
        fix: `create the DNS records that aws acm describe-certificate --certificate-arn ${arn} shows`,
      };
    const uncovered = [domain.integrationHost, domain.messagingHost].filter(
      (host) => !names.some(covers(host)),
    );
    return uncovered.length > 0
      ? { says: `The certificate does not cover ${uncovered.join(" and ")}.`, fix }
      : undefined;
  },
};

const docker: Check = {
  name: "Docker for arm64",
  isNeeded: ({ messagingImage }) => messagingImage === undefined,
  find: async ({ platforms }) => {
    const found = await platforms().catch(() => undefined);
    if (found === undefined)
      return {
        says: "Docker does not run.",
        fix: "start Docker, or set messagingImage to an image in a registry",
      };
    return found.includes("linux/arm64")
      ? undefined
      : {
          says: "Docker cannot build for arm64 here.",
          fix: "docker run --privileged --rm tonistiigi/binfmt --install arm64",
        };
  },
};

/** A tag moves: without a digest, two builds of one commit may differ. */
const pinnedBase: Check = {
  name: "base image of the messenger",
  isNeeded: ({ isProduction, messagingImage }) => isProduction && messagingImage === undefined,
  find: async ({ baseImage }) =>
    /@sha256:[\da-f]{64}$/.test(baseImage)
      ? undefined
      : {
          says: `${baseImage} is a tag, which moves: production pins it by its digest.`,
          fix: `DIGEST=$(docker buildx imagetools inspect ${baseImage} --format '{{.Manifest.Digest}}') && sed -i.old "s|^FROM ${baseImage}$|&@$DIGEST|" infra/aws/messenger.Dockerfile, then commit the file`,
        },
};

/**
 * The database is encrypted with the key of RDS itself, which no other account can use.
 * @see https://aws.amazon.com/blogs/storage/protecting-encrypted-amazon-rds-instances-with-cross-account-and-cross-region-backups/
 */
const vaultAccount: Check = {
  name: "account of the backup vault",
  isNeeded: ({ backupVaultArn, database }) => backupVaultArn !== undefined && database.kind !== "existing",
  find: async ({ aws, config: { backupVaultArn = "" } }) => {
    const { Account: own } = (await aws("sts", "get-caller-identity")) as { Account: string };
    const [, , , vaultRegion, account] = backupVaultArn.split(":");
    if (account === own) return undefined;
    return {
      says: `The vault is in account ${account}, which cannot read a copy that is encrypted with RDS's own key of ${own}.`,
      fix: `aws backup create-backup-vault --region ${vaultRegion} --backup-vault-name municipal in account ${own}, and set backupVaultArn to it`,
    };
  },
};

/** What must be so before a stage is deployed for the first time. */
export const checks: readonly Check[] = [
  regionEnabled,
  bootstrapped,
  serviceRole("ecs", "AWSServiceRoleForECS"),
  serviceRole("rds", "AWSServiceRoleForRDS"),
  lambdaConcurrency,
  gatewayRate,
  secretNames,
  addresses,
  certificate,
  docker,
  pinnedBase,
  vaultAccount,
];
