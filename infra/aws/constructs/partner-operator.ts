import { CfnOutput, Stack, Validations } from "aws-cdk-lib";
import type { UsagePlan } from "aws-cdk-lib/aws-apigateway";
import { ManagedPolicy, PolicyStatement } from "aws-cdk-lib/aws-iam";
import { Secret } from "aws-cdk-lib/aws-secretsmanager";
import { Construct } from "constructs";
import { secretName } from "../stage-names.ts";

/** The permissions that `npm run city -- partner` needs for this stage; the output `PartnerOperatorPolicy` is its ARN. */
export class PartnerOperator extends Construct {
  constructor(scope: Construct, stage: string, usagePlans: readonly UsagePlan[]) {
    super(scope, "PartnerOperator");
    const { partition, region } = Stack.of(this);
    const arn = (path: string) => `arn:${partition}:apigateway:${region}::${path}`;
    const planKeys = usagePlans.map(({ usagePlanId }) => arn(`/usageplans/${usagePlanId}/keys`));
    const policy = new ManagedPolicy(this, "Policy", {
      description: `Partners of the stage ${stage}: npm run city -- partner`,
      statements: [
        new PolicyStatement({
          actions: ["apigateway:GET"],
          resources: [arn("/usageplans"), arn("/apikeys"), ...planKeys],
        }),
        new PolicyStatement({ actions: ["apigateway:POST"], resources: [arn("/apikeys"), ...planKeys] }),
        new PolicyStatement({
          actions: ["apigateway:PATCH", "apigateway:DELETE"],
          resources: [arn("/apikeys/*")],
        }),
        new PolicyStatement({
          actions: ["apigateway:DELETE"],
          resources: planKeys.map((keys) => `${keys}/*`),
        }),
      ],
    });
    const name = secretName(stage, "database/partner-admin");
    Secret.fromSecretNameV2(this, "Credentials", name).grantRead(policy);
    const planIds = usagePlans.map(({ usagePlanId }) => Stack.of(this).resolve(usagePlanId).Ref);
    for (const path of ["apikeys", ...planIds.map((id) => `usageplans/<${id}>/keys`)])
      Validations.of(policy).acknowledge({
        id: `AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:apigateway:<AWS::Region>::/${path}/*]`,
        reason:
          "npm run city -- partner makes these keys, whose ids nobody knows before. A key opens nothing here: it only counts its partner's requests",
      });
    new CfnOutput(scope, "PartnerOperatorPolicy", { value: policy.managedPolicyArn });
  }
}
