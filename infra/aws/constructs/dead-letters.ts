import { Duration, RemovalPolicy } from "aws-cdk-lib";
import { PolicyStatement, ServicePrincipal } from "aws-cdk-lib/aws-iam";
import { Key } from "aws-cdk-lib/aws-kms";
import { Queue, QueueEncryption } from "aws-cdk-lib/aws-sqs";
import { Construct } from "constructs";

/**
 * Failed events, kept until an operator replays them: each body is the event as the function would have got it. Most
 * hold a job and a time; a requested notification whose function could not be started holds a phone number and a
 * text. So the queue has its own key: a reader of the queue also needs permission to use the key.
 */
export class DeadLetters extends Construct {
  readonly queue: Queue;
  readonly #key: Key;

  constructor(scope: Construct, id: string, stage: string) {
    super(scope, id);
    this.#key = new Key(this, "Key", {
      description: `Dead letters of ${stage}`,
      enableKeyRotation: true,
      // it encrypts nothing else than the queue, which is deleted with it
      removalPolicy: RemovalPolicy.DESTROY,
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

  /** Returns the statements that allow a role to write to the queue. */
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
   * Lets EventBridge rules write to the queue. EventBridge has no role, so the key policy must allow it; which rule
   * may write is decided by the queue policy, because the call to the key does not name the rule.
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
