import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { bundleFolder, listFunctions } from "../../infra/build/build.ts";
import { covers, type Statement } from "../../infra/local/gateway/policy.ts";
import type { FunctionSettings } from "../runtime-client/environment.ts";
import type { Formation, Formed } from "./formation.ts";

/** A permission to invoke a function from outside its account. */
interface Permission {
  readonly principal: string;
  readonly sourceArn: string;
}

/** A function of the template, with the permissions of its role. */
export interface LambdaFunction extends Omit<FunctionSettings, "variables"> {
  /** Its id in the template. */
  readonly id: string;
  /** The module under `functions/` whose bundle it runs: known by its code, not by its name. */
  readonly module: string;
  readonly stack: string;
  readonly timeoutSeconds: number;
  /** The environment that the template gives it. */
  readonly environment: Readonly<Record<string, string>>;
  /** By this the services know which role calls them. */
  readonly accessKeyId: string;
  readonly statements: readonly Statement[];
  readonly permissions: readonly Permission[];
}

const defaults = { timeoutSeconds: 3, memoryMb: 128 };

const readStatements = (formation: Formation, roleArn: string): Statement[] => {
  const role = formation.list("AWS::IAM::Role").find(({ identity }) => identity.attribute("Arn") === roleArn);
  if (!role) throw new Error(`the role ${roleArn} is not in the template`);
  const attached = ["AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"]
    .flatMap((type) => formation.list(type))
    .filter(({ properties }) => properties.Roles?.includes(role.identity.ref));
  const own: { PolicyDocument: { Statement: Statement[] } }[] = role.properties.Policies ?? [];
  return [...own, ...attached.map(({ properties }) => properties)].flatMap(
    ({ PolicyDocument }) => PolicyDocument.Statement,
  );
};

const bundleIn = (folder: string) => `${folder}/index.mjs`;

/** Of CDK's own functions none is an ES module, of ours each is. */
const isOurs = (formation: Formation, { properties: { Code } }: Formed) =>
  existsSync(bundleIn(formation.findAsset(Code.S3Bucket, Code.S3Key) ?? ""));

const readModules = () =>
  new Map(listFunctions().map((fn) => [readFileSync(bundleIn(bundleFolder(fn)), "utf8"), fn]));

const readFunction = (
  formation: Formation,
  formed: Formed,
  modules: ReadonlyMap<string, string>,
): LambdaFunction => {
  const { id, stack, identity, properties } = formed;
  const { Code, Handler, Runtime, Timeout, MemorySize, Environment, LoggingConfig, Role } = properties;
  const arn = identity.attribute("Arn");
  const folder = formation.findAsset(Code.S3Bucket, Code.S3Key);
  if (!folder) throw new Error(`${id}: its code is not among the assets`);
  if (Runtime !== `nodejs${process.versions.node.split(".")[0]}.x`)
    throw new Error(`${id} wants ${Runtime}, and this is Node ${process.version}`);
  const module = modules.get(readFileSync(bundleIn(folder), "utf8"));
  if (!module) throw new Error(`${id} runs a bundle that is none of ours`);
  return {
    ...{ id, module, stack, arn, folder, name: identity.ref, handler: Handler },
    timeoutSeconds: Timeout ?? defaults.timeoutSeconds,
    memoryMb: MemorySize ?? defaults.memoryMb,
    logFormat: LoggingConfig?.LogFormat ?? "Text",
    environment: Environment?.Variables ?? {},
    accessKeyId: `ASIA${createHash("sha256").update(arn).digest("hex").slice(0, 16).toUpperCase()}`,
    statements: readStatements(formation, Role),
    permissions: formation
      .list("AWS::Lambda::Permission")
      .filter(({ properties: { FunctionName } }) => [arn, identity.ref].includes(FunctionName))
      .map(({ properties: { Principal, SourceArn = "*" } }) => ({
        principal: Principal,
        sourceArn: SourceArn,
      })),
  };
};

/** The product's functions, of all stacks. The bundles must be those that the templates were synthesized with. */
export const readFunctions = (formation: Formation): LambdaFunction[] => {
  const modules = readModules();
  return formation
    .list("AWS::Lambda::Function")
    .filter((formed) => isOurs(formation, formed))
    .map((formed) => readFunction(formation, formed, modules));
};

/** Finds the function that a service may invoke on behalf of one of its resources. */
export const findInvocable = (
  functions: readonly LambdaFunction[],
  arn: string,
  principal: string,
  sourceArn: string,
): LambdaFunction | undefined =>
  functions.find(
    (fn) =>
      fn.arn === arn &&
      fn.permissions.some((given) => given.principal === principal && covers(given.sourceArn, sourceArn)),
  );
