import { CfnOutput, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { Api } from "../api.ts";
import { CustomDomain, findPlace } from "../constructs/custom-domain.ts";
import { Firewall } from "../constructs/firewall.ts";
import { Gateway, type GatewayProps } from "../constructs/gateway.ts";
import type { Surroundings } from "../constructs/node-function.ts";
import { PartnerOperator } from "../constructs/partner-operator.ts";

export interface ApiStackProps extends Surroundings {
  readonly api: Api;
  /** The address of the other API, for the documentation. */
  readonly addresses: GatewayProps["addresses"];
}

/** One REST API with its functions, firewall, custom domain, and the operator's permissions. */
export class ApiStack extends Stack {
  readonly api: Api;
  readonly gateway: Gateway;

  constructor(scope: Construct, id: string, props: ApiStackProps) {
    super(scope, id);
    const { api, config } = props;
    const place = findPlace(config, api);
    this.api = api;
    this.gateway = new Gateway(this, { ...props, place });
    const { rest, usagePlans } = this.gateway;
    new Firewall(this, {
      ...api.firewall,
      name: `municipal-${config.stage}-${api.name}`,
      stageArn: rest.deploymentStage.stageArn,
    });
    if (usagePlans.length > 0) new PartnerOperator(this, { stage: config.stage, usagePlans });
    if (place) new CustomDomain(this, place, rest);
    new CfnOutput(this, "BaseUrl", { value: this.gateway.baseUrl });
  }
}
