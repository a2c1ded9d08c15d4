import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";

/**
 * Reads the outputs of a stage's stack.
 *
 * @param part of the stack's name, such as `jobs`.
 * @returns a function that finds a value by its key; empty when the stack lacks the output.
 * @throws the error of AWS, as for an unknown stage.
 */
export const readOutputs = async (stage: string, part: string): Promise<(key: string) => string> => {
  const { Stacks } = await new CloudFormationClient({}).send(
    new DescribeStacksCommand({ StackName: `municipal-${stage}-${part}` }),
  );
  return (key) => Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === key)?.OutputValue ?? "";
};
