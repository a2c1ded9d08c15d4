/** Explains a failed call to AWS in a few words, for the middle of a sentence. */
export const explainAwsError = (error: unknown): string => {
  const { name, message } = error as Error;
  if (message === "Region is missing") return "no AWS region is set; set AWS_REGION";
  if (name === "CredentialsProviderError") return "no AWS credentials were found";
  return `${name}: ${message}`;
};
