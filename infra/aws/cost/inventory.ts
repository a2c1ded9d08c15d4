import type { App } from "aws-cdk-lib";

/** The resources of a stage that cost money without requests. */
export interface Inventory {
  readonly databaseServers: number;
  readonly isMultiZone: boolean;
  readonly publicAddresses: number;
  readonly natGateways: number;
  readonly secrets: number;
  readonly keys: number;
  /** An alarm on several metrics is billed for each of them. */
  readonly alarmMetrics: number;
  /** Custom metrics from log lines. */
  readonly figures: number;
  readonly dashboards: number;
  readonly firewalls: number;
  readonly firewallRules: number;
  readonly zones: number;
}

// biome-ignore lint/suspicious/noExplicitAny: CloudFormation's properties have no type of their own
type Properties = Record<string, any>;

/** Counts the resources in the templates of an app's stacks. */
export const takeInventory = (app: App): Inventory => {
  const resources = app
    .synth()
    .stacks.flatMap(
      ({ template }) => Object.values(template.Resources) as { Type: string; Properties: Properties }[],
    );
  const all = (type: string) =>
    resources.filter(({ Type }) => Type === `AWS::${type}`).map(({ Properties: found = {} }) => found);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  const services = all("ECS::Service").map(
    ({ NetworkConfiguration }) => NetworkConfiguration.AwsvpcConfiguration,
  );
  const instances = all("RDS::DBInstance");
  return {
    databaseServers: instances.length,
    isMultiZone: instances.some(({ MultiAZ }) => MultiAZ === true),
    publicAddresses:
      all("EC2::EIP").length + services.filter(({ AssignPublicIp }) => AssignPublicIp === "ENABLED").length,
    natGateways: all("EC2::NatGateway").length,
    secrets: all("SecretsManager::Secret").length,
    keys: all("KMS::Key").length,
    alarmMetrics: sum(
      all("CloudWatch::Alarm").map(({ Metrics }) =>
        Metrics ? Metrics.filter((one: Properties) => "MetricStat" in one).length : 1,
      ),
    ),
    figures: new Set(
      all("Logs::MetricFilter").flatMap(({ MetricTransformations }) =>
        MetricTransformations.map(({ MetricName }: Properties) => MetricName),
      ),
    ).size,
    dashboards: all("CloudWatch::Dashboard").length,
    firewalls: all("WAFv2::WebACL").length,
    firewallRules: sum(all("WAFv2::WebACL").map(({ Rules }) => Rules.length)),
    zones: all("ServiceDiscovery::PrivateDnsNamespace").length,
  };
};
