import { Duration } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";
import { keepOrDrop } from "../removal.ts";

/**
 * What was to be done and could not be, until an operator has it done: each body is the event itself, as the
 * function was to get it. That is a job and a time; but a requested notification for which the function could not
 * even be started, or was killed, holds a number and its text. So the queue has a key of its own: who may read the
 * queue must be let use that key too.
 */
export class DeadLetters extends Construct {
  readonly queue: Queue;
  readonly #key: Key;

  constructor(scope: Construct, id: string, { stage, keepsData }: { stage: string; keepsData: boolean }) {
    super(scope, id);
    this.#key = new Key(this, "Key", {
      description: `What could not be done in ${stage}`,
      enableKeyRotation: true,
      removalPolicy: keepOrDrop(keepsData),
    });
    this.queue = new Queue(this, "Queue", {
      queueName: `municipal-${stage}-dead-letters`,
      encryption: QueueEncryption.KMS,
      encryptionMasterKey: this.#key,
      enforceSSL: true,
      // over a long weekend, and not much longer: it is personal data
      retentionPeriod: Duration.days(7),
    });
  }

  /** What a role needs that puts something here. */
  writing(): PolicyStatement[] {
    return [
      new PolicyStatement({ actions: ["sqs:SendMessage"], resources: [this.queue.queueArn] }),
      new PolicyStatement({
        actions: ["kms:GenerateDataKey", "kms:Decrypt"],
        resources: [this.#key.keyArn],
      }),
    ];
  }

  /**
   * Lets EventBridge put here what it could not hand over: it has no role, so the key must say so. Whose rule it
   * is, is for the queue's policy, which a rule adds to; the call to the key does not tell.
   *
   * @see https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-key-management.html
   */
  acceptFromRules(): void {
    this.#key.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal("events.amazonaws.com")],
        actions: ["kms:GenerateDataKey", "kms:Decrypt"],
        resources: ["*"],
      }),
    );
  }
}
