import type { Resource } from "./assembly.ts";

/** The account and region of the stacks. */
export interface Place {
  readonly account: string;
  readonly region: string;
}

/** What other resources see of one: the value of `Ref`, and those of `Fn::GetAtt`. */
export interface Identity {
  readonly ref: string;
  attribute(name: string): string;
}

type Describe = (given: {
  /** Name in the service; CloudFormation would add random characters. */
  name: string;
  arn: (service: string, resource: string) => string;
  properties: Readonly<Record<string, unknown>>;
}) => { ref: string; attributes?: Readonly<Record<string, string>> };

/** Those whose values are more than a name, because a rule is about them. */
const described: Readonly<Record<string, Describe>> = {
  "AWS::Lambda::Function": ({ name, arn, properties }) => {
    const ref = String(properties.FunctionName ?? name);
    return { ref, attributes: { Arn: arn("lambda", `function:${ref}`) } };
  },
  "AWS::SecretsManager::Secret": ({ name, arn, properties }) => {
    const ref = arn("secretsmanager", `secret:${properties.Name ?? name}-AbCdEf`);
    return { ref, attributes: { Id: ref } };
  },
  "AWS::SecretsManager::SecretTargetAttachment": ({ properties }) => ({ ref: String(properties.SecretId) }),
  "AWS::ApiGateway::RestApi": ({ name }) => ({ ref: name, attributes: { RootResourceId: `${name}/` } }),
  "AWS::ApiGateway::Stage": ({ properties }) => ({ ref: String(properties.StageName) }),
  "AWS::IAM::Role": ({ name, arn, properties }) => {
    const ref = String(properties.RoleName ?? name);
    return { ref, attributes: { Arn: arn("iam", `role/${ref}`) } };
  },
  "AWS::SNS::Topic": ({ name, arn }) => ({ ref: arn("sns", name) }),
};

/** What CloudFormation would know of a resource once it exists; of most only that it has a name and an ARN. */
export const identify = (
  { Type }: Resource,
  name: string,
  properties: Readonly<Record<string, unknown>>,
  { account, region }: Place,
): Identity => {
  const arn = (service: string, resource: string) => `arn:aws:${service}:${region}:${account}:${resource}`;
  const { ref, attributes = {} } = described[Type]?.({ name, arn, properties }) ?? { ref: name };
  const service = Type.split("::")[1]?.toLowerCase() ?? "unknown";
  return {
    ref,
    attribute: (attribute) =>
      attributes[attribute] ?? (attribute === "Arn" ? arn(service, name) : `${name}.${attribute}`),
  };
};
