import { Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import type { Config } from "../config.ts";
import { Network } from "../constructs/network.ts";
import { confineProviders } from "../constructs/providers.ts";

/** The network of all other stacks. */
export class NetworkStack extends Stack {
  readonly network: Network;

  constructor(scope: Construct, id: string, config: Config) {
    super(scope, id, { terminationProtection: config.protected });
    this.network = new Network(this, "Network", config);
    this.#export(config);
    confineProviders(this, config.logRetention);
  }

  /**
   * Exports what other stacks use with one configuration or another: the route to the legacy systems decides which subnets,
   * the kind of the database which more. CloudFormation refuses to remove an export that is still in use.
   */
  #export({ network }: Config) {
    const { vpc, functions, messenger } = this.network;
    for (const { securityGroup } of [functions, messenger]) this.exportValue(securityGroup.securityGroupId);
    if (network.egress === "existing") return;
    this.exportValue(vpc.vpcId);
    const { publicSubnets, privateSubnets, isolatedSubnets } = vpc;
    for (const { subnetId } of [...publicSubnets, ...privateSubnets, ...isolatedSubnets])
      this.exportValue(subnetId);
  }
}
