import { CfnOutput, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { Api } from "../api.ts";
import { CustomDomain, findPlace } from "../constructs/custom-domain.ts";
import { Firewall } from "../constructs/firewall.ts";
import { Gateway } from "../constructs/gateway.ts";
import type { Surroundings } from "../constructs/node-function.ts";
import { PartnerOperator } from "../constructs/partner-operator.ts";

export interface ApiStackProps extends Surroundings {
  readonly api: Api;
}

/** One REST API with its functions, its firewall, its host, and who may keep its partners. */
export class ApiStack extends Stack {
  readonly api: Api;
  readonly gateway: Gateway;

  constructor(scope: Construct, id: string, props: ApiStackProps) {
    super(scope, id);
    const { api, config } = props;
    const place = findPlace(config, api);
    this.api = api;
    this.gateway = new Gateway(this, { ...props, hasDefaultAddress: !place });
    const { rest, usagePlans } = this.gateway;
    new Firewall(this, {
      ...api.firewall,
      name: `municipal-${config.stage}-${api.name}`,
      stageArn: rest.deploymentStage.stageArn,
    });
    if (usagePlans.length > 0) new PartnerOperator(this, { stage: config.stage, usagePlans });
    if (place) new CustomDomain(this, place, rest);
    new CfnOutput(this, "BaseUrl", {
      value: place
        ? ["https:/", place.host, ...(place.basePath ? [place.basePath] : [])].join("/")
        : `https://${rest.restApiId}.execute-api.${this.region}.${this.urlSuffix}/${config.stage}`,
    });
  }
}
