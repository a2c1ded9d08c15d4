import type { Stack } from "aws-cdk-lib";
import { Template } from "aws-cdk-lib/assertions";

// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
type Properties = Record<string, any>;
type Resource = {
  readonly Properties: Properties;
  readonly DependsOn?: string[];
  readonly DeletionPolicy?: string;
};

/** The logical id that a value refers to. */
export const idOf = (value: unknown): string =>
  /"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/.exec(JSON.stringify(value))?.[1] ?? "";

/** A stack's template, with queries for tests. */
export const readTemplate = (stack: Stack) => {
  const template = Template.fromStack(stack);
  const resources = (type: string) => template.findResources(`AWS::${type}`) as Record<string, Resource>;
  const all = (type: string): Properties[] =>
    Object.values(resources(type)).map(({ Properties = {} }) => Properties);
  /** The one resource of a type. */
  const only = (type: string): Properties => {
    const [found, ...more] = all(type);
    if (!found || more.length > 0) throw new Error(`${more.length + (found ? 1 : 0)} resources of ${type}`);
    return found;
  };

  /** The address of an API Gateway resource, from its parents. */
  const pathOf = (id: string): string => {
    const resource = resources("ApiGateway::Resource")[id];
    return resource ? `${pathOf(idOf(resource.Properties.ParentId))}/${resource.Properties.PathPart}` : "";
  };

  /** The method at a place such as `GET /thing`. */
  const methodAt = (place: string): Properties => {
    const [found, ...more] = all("ApiGateway::Method").filter(
      ({ HttpMethod, ResourceId }) => `${HttpMethod} ${pathOf(idOf(ResourceId)) || "/"}` === place,
    );
    if (!found || more.length > 0) throw new Error(`not one method at ${place}`);
    return found;
  };

  /** The function behind a method, with the permissions of its role. */
  const functionOf = (method: Properties): Properties => {
    const properties = resources("Lambda::Function")[idOf(method.Integration.Uri)]?.Properties ?? {};
    const role = idOf(properties.Role);
    const policies = all("IAM::Policy").filter(({ Roles }) => idOf(Roles) === role);
    return { ...properties, policies: policies.map(({ PolicyDocument }) => PolicyDocument) };
  };

  /** Every statement of every policy. */
  const statements = (): Properties[] => [
    ...[...all("IAM::Policy"), ...all("IAM::ManagedPolicy")].flatMap(
      ({ PolicyDocument }) => PolicyDocument.Statement,
    ),
    ...all("IAM::Role").flatMap(({ Policies = [] }) =>
      Policies.flatMap(({ PolicyDocument }: Properties) => PolicyDocument.Statement),
    ),
  ];

  return { template, resources, all, only, methodAt, functionOf, statements };
};

/** The value with weak references to other stacks as names, such as `GatewayemployeeloginFunction`. */
export const nameReferences = <T>(value: T): T =>
  JSON.parse(
    JSON.stringify(value).replaceAll(
      /\{"Fn::GetStackOutput":\{[^{}]*\{[^{}]*\},"OutputName":"PublishOutput(?:Ref|FnGetAtt)(\w+?)[\dA-F]{8}\w*"\}\}/g,
      '"$1"',
    ),
  );
