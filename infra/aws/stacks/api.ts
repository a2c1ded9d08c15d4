import { CfnOutput, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { Api } from "../api.ts";
import { CustomDomain, findPlace } from "../constructs/custom-domain.ts";
import { Firewall } from "../constructs/firewall.ts";
import { Gateway, type GatewayProps } from "../constructs/gateway.ts";
import { PartnerOperator } from "../constructs/partner-operator.ts";

/** One REST API with its functions, firewall, custom domain, and the operator's permissions. */
export class ApiStack extends Stack {
  readonly api: Api;
  readonly gateway: Gateway;

  constructor(scope: Construct, id: string, props: GatewayProps) {
    super(scope, id);
    const { api, config } = props;
    const place = findPlace(config, api);
    this.api = api;
    this.gateway = new Gateway(this, props);
    const { rest, usagePlans } = this.gateway;
    new Firewall(this, {
      ...api.firewall,
      name: `municipal-${config.stage}-${api.name}`,
      stageArn: rest.deploymentStage.stageArn,
    });
    if (usagePlans.length > 0) new PartnerOperator(this, config.stage, usagePlans);
    if (place) new CustomDomain(this, place, rest);
    new CfnOutput(this, "BaseUrl", { value: this.gateway.baseUrl });
    // the other API uses it until there is a custom domain, and an export in use cannot be removed
    this.exportValue(rest.restApiId);
  }
}
