import { App, Duration, Stack } from "aws-cdk-lib";
import {
  OidcProviderNative,
  PolicyDocument,
  PolicyStatement,
  Role,
  WebIdentityPrincipal,
} from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";

const issuer = "token.actions.githubusercontent.com";

/** The environments of the workflow, and the CDK's roles that its jobs need there. The review may not change anything. */
const environments: Readonly<Record<string, readonly string[]>> = {
  dev: ["deploy", "file-publishing", "image-publishing", "lookup"],
  "prod-review": ["lookup"],
  prod: ["deploy", "file-publishing", "image-publishing", "lookup"],
};

/** Roles of the workflow's jobs. Each is only for one environment of one repository, and may only assume the CDK's roles. */
export class PipelineRoles extends Stack {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    const subject = this.#read("subject", /^repo:[\w.-]+(@\d+)?\/[\w.-]+(@\d+)?$/, "repo:city/municipal");
    const names = Object.keys(environments);
    const list = new RegExp(`^(${names.join("|")})(,(${names.join("|")}))*$`);
    const chosen = this.#read("environments", list, "prod-review,prod", names.join());
    const provider =
      this.#read("provider", /^(new|existing)$/, "existing", "new") === "new"
        ? new OidcProviderNative(this, "GitHub", {
            url: `https://${issuer}`,
            clientIds: ["sts.amazonaws.com"],
          }).oidcProviderArn
        : `arn:${this.partition}:iam::${this.account}:oidc-provider/${issuer}`;
    for (const environment of chosen.split(","))
      new Role(this, environment, {
        roleName: `municipal-pipeline-${environment}`,
        maxSessionDuration: Duration.hours(2),
        assumedBy: new WebIdentityPrincipal(provider, {
          StringEquals: {
            [`${issuer}:aud`]: "sts.amazonaws.com",
            [`${issuer}:sub`]: `${subject}:environment:${environment}`,
          },
        }),
        inlinePolicies: { cdk: this.#assume(environments[environment] ?? []) },
      });
  }

  #assume(roles: readonly string[]): PolicyDocument {
    const { partition, account, region } = this;
    const arn = (role: string) =>
      `arn:${partition}:iam::${account}:role/cdk-hnb659fds-${role}-role-${account}-${region}`;
    return new PolicyDocument({
      statements: [new PolicyStatement({ actions: ["sts:AssumeRole"], resources: roles.map(arn) })],
    });
  }

  /** @throws Error that names the context key and a valid value. */
  #read(key: string, pattern: RegExp, example: string, otherwise?: string): string {
    const value = this.node.tryGetContext(key) ?? otherwise;
    if (typeof value === "string" && pattern.test(value)) return value;
    throw new Error(
      `context key "${key}" is missing or invalid. A valid value is, for example: --context ${key}=${example}`,
    );
  }
}

if (import.meta.main) {
  const app = new App();
  new PipelineRoles(app, "municipal-pipeline");
  app.synth();
}
