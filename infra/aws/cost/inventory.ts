import type { App } from "aws-cdk-lib";

// biome-ignore lint/suspicious/noExplicitAny: CloudFormation's properties have no types
type Properties = Record<string, any>;

const isPublic = ({ NetworkConfiguration }: Properties) =>
  NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp === "ENABLED";

/** Counts the resources that cost money without requests, in the templates of an app's stacks. */
export const takeInventory = (app: App) => {
  const resources = app
    .synth()
    .stacks.flatMap(
      ({ template }) => Object.values(template.Resources) as { Type: string; Properties: Properties }[],
    );
  const all = (type: string) =>
    resources.filter(({ Type }) => Type === `AWS::${type}`).map(({ Properties: found = {} }) => found);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  const countTasks = (services: readonly Properties[]) =>
    sum(services.map(({ DesiredCount }) => DesiredCount));
  const instances = all("RDS::DBInstance");
  return {
    databaseServers: instances.length,
    isMultiZone: instances.some(({ MultiAZ }) => MultiAZ === true),
    messengers: countTasks(all("ECS::Service")),
    publicAddresses: all("EC2::EIP").length + countTasks(all("ECS::Service").filter(isPublic)),
    natGateways: all("EC2::NatGateway").length,
    secrets: all("SecretsManager::Secret").length,
    keys: all("KMS::Key").length,
    // an alarm on several metrics is billed for each of them
    alarmMetrics: sum(
      all("CloudWatch::Alarm").map(({ Metrics }) =>
        Metrics ? Metrics.filter((one: Properties) => "MetricStat" in one).length : 1,
      ),
    ),
    // custom metrics from log lines
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

export type Inventory = Readonly<ReturnType<typeof takeInventory>>;
