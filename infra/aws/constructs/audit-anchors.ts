import { CfnOutput, Duration, Stack, Validations } from "aws-cdk-lib";
import { PolicyStatement } from "aws-cdk-lib/aws-iam";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import * as s3 from "aws-cdk-lib/aws-s3";
import { Construct } from "constructs";
import { auditYears } from "#lib/maintenance/audit.ts";
import type { Config } from "../config.ts";
import { keepOrDrop } from "./protection.ts";

/** Rows expire with their partition: some weeks after their time, and never a year. */
const retention = Duration.days(365 * (auditYears + 1));

/**
 * The bucket with the anchors of the audit's seals. Where data is kept, nobody can change or delete an object before its
 * time, not even the root user: mode COMPLIANCE. A stage that can be destroyed has no lock, because a bucket with locked
 * objects cannot be deleted.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lock.html
 */
export class AuditAnchors extends Construct {
  /** URL of the bucket by IPv6 and IPv4: in a network without NAT, S3 is reached by IPv6. */
  readonly url: string;
  readonly #arn: string;
  readonly #exported: string;

  constructor(scope: Construct, id: string, { stage, keepsData }: Config) {
    super(scope, id);
    const bucket = new s3.Bucket(this, "Bucket", {
      versioned: true,
      encryption: s3.BucketEncryption.S3_MANAGED,
      blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      minimumTLSVersion: 1.2,
      ...(keepsData && {
        objectLockEnabled: true,
        objectLockDefaultRetention: s3.ObjectLockRetention.compliance(retention),
      }),
      removalPolicy: keepOrDrop(keepsData),
      autoDeleteObjects: !keepsData,
    });
    Validations.of(bucket).acknowledge({
      id: "AwsSolutions-S1",
      reason:
        "An access log would be a second bucket, written to more often than this one: one function adds objects, nobody can change them, and CloudTrail can record who reads them",
    });
    this.url = `https://${bucket.bucketDualStackDomainName}`;
    this.#exported = `municipal-${stage}-audit-anchors`;
    this.#arn = Stack.of(this).exportValue(bucket.bucketArn, { name: this.#exported });
    new CfnOutput(this, "Name", { value: bucket.bucketName }).overrideLogicalId("AuditAnchors");
  }

  /** Lets a function add objects. It can neither read nor delete them. */
  grantAdd({ role }: IFunction): void {
    if (!role) return;
    role.addToPrincipalPolicy(
      new PolicyStatement({ actions: ["s3:PutObject"], resources: [`${this.#arn}/seals/*`] }),
    );
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::${this.#exported}/seals/*]`,
      reason: "Each anchor has a key of its own, which contains the number and the digest of its seal",
    });
  }
}
