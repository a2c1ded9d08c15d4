/** CloudFormation's answer to DescribeStacks, when there is one stack. */
export const describeStack = (
  name: string,
  outputs: Readonly<Record<string, string>>,
  body: string,
): { status: number; body: string } => {
  const asked = new URLSearchParams(body).get("StackName");
  if (asked !== name) {
    const error = `<Code>ValidationError</Code><Message>Stack with id ${asked} does not exist</Message>`;
    return { status: 400, body: `<ErrorResponse><Error>${error}</Error></ErrorResponse>` };
  }
  const members = Object.entries(outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const stacks = `<Stacks><member><Outputs>${members.join("")}</Outputs></member></Stacks>`;
  const result = `<DescribeStacksResult>${stacks}</DescribeStacksResult>`;
  return { status: 200, body: `<DescribeStacksResponse>${result}</DescribeStacksResponse>` };
};
