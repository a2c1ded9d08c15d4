import type { Formation, Formed } from "./formation.ts";

interface Container {
  readonly PortMappings?: readonly { readonly ContainerPort: number }[];
}

/**
 * The addresses that a stage's own zone gives its containers, such as `messenger.municipal-prod.internal:8080`: by
 * the registry of a service, the zone of the registry and the ports of the service's containers.
 */
export const listServiceAddresses = (formation: Formation): string[] => {
  const find = (type: string, isIt: (formed: Formed) => boolean) => formation.list(type).find(isIt);
  return formation.list("AWS::ECS::Service").flatMap(({ properties }) => {
    const [registered] = properties.ServiceRegistries ?? [];
    const registry = find(
      "AWS::ServiceDiscovery::Service",
      ({ identity }) => identity.attribute("Arn") === registered?.RegistryArn,
    );
    const zone = find(
      "AWS::ServiceDiscovery::PrivateDnsNamespace",
      ({ identity }) => identity.attribute("Id") === registry?.properties.DnsConfig.NamespaceId,
    );
    const task = find(
      "AWS::ECS::TaskDefinition",
      ({ identity }) => identity.ref === properties.TaskDefinition,
    );
    const containers: Container[] = task?.properties.ContainerDefinitions ?? [];
    if (!registry || !zone) return [];
    return containers
      .flatMap(({ PortMappings = [] }) => PortMappings)
      .map(({ ContainerPort }) => `${registry.properties.Name}.${zone.properties.Name}:${ContainerPort}`);
  });
};
