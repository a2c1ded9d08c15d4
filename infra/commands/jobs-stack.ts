import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";

/** The parts of a stage's jobs stack that commands use; empty when the stack lacks the output. */
export interface JobsStack {
  readonly queueUrl: string;
  readonly functionName: string;
  readonly maintenanceLog: string;
}

/** Reads the outputs of a stage's jobs stack. @throws the error of AWS, as for an unknown stage. */
export const findJobsStack = async (stage: string): Promise<JobsStack> => {
  const { Stacks } = await new CloudFormationClient({}).send(
    new DescribeStacksCommand({ StackName: `municipal-${stage}-jobs` }),
  );
  const output = (key: string) =>
    Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === key)?.OutputValue ?? "";
  return {
    queueUrl: output("DeadLetterQueue"),
    functionName: output("NotifyFunction"),
    maintenanceLog: output("MaintenanceLog"),
  };
};
