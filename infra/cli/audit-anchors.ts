import { CloudFormationClient, DescribeStacksCommand } from "@aws-sdk/client-cloudformation";
import { ListObjectVersionsCommand, type ListObjectVersionsOutput, S3Client } from "@aws-sdk/client-s3";
import { type Anchor, findAnchor } from "#lib/maintenance/anchor.ts";
import { CommandError, explainAwsError } from "./command.ts";

/** An object of the bucket. Several may be of the same seal: somebody added them, because none can be replaced. */
export interface StoredAnchor extends Anchor {
  /** When S3 stored it, as S3 says. */
  readonly at: Date;
  /** A marker that hides an anchor instead of an anchor. */
  readonly isMarker: boolean;
}

const readPages = async (bucket: string): Promise<ListObjectVersionsOutput[]> => {
  const client = new S3Client({});
  const pages: ListObjectVersionsOutput[] = [];
  let next: Pick<ListObjectVersionsOutput, "NextKeyMarker" | "NextVersionIdMarker"> | undefined = {};
  while (next) {
    const { NextKeyMarker: KeyMarker, NextVersionIdMarker: VersionIdMarker } = next;
    const page: ListObjectVersionsOutput = await client.send(
      new ListObjectVersionsCommand({ Bucket: bucket, KeyMarker, VersionIdMarker }),
    );
    pages.push(page);
    next = page.IsTruncated ? page : undefined;
  }
  return pages;
};

/**
 * Reads all anchors of a bucket in the order in which they were stored: of one seal, the first is the true one.
 *
 * @throws CommandError if AWS does not answer.
 */
export const readAnchors = async (bucket: string): Promise<StoredAnchor[]> => {
  const pages = await readPages(bucket).catch((error: unknown) => {
    throw new CommandError(`The bucket ${bucket} cannot be read: ${explainAwsError(error)}`);
  });
  const found = pages.flatMap(({ Versions = [], DeleteMarkers = [] }) => [
    ...Versions.map((version) => ({ ...version, isMarker: false })),
    ...DeleteMarkers.map((version) => ({ ...version, isMarker: true })),
  ]);
  return found
    .toReversed() // S3 lists the newest version of a key first
    .flatMap(({ Key = "", LastModified: at = new Date(0), isMarker }) => {
      const anchor = findAnchor(Key);
      return anchor ? [{ ...anchor, at, isMarker }] : [];
    })
    .toSorted((one, other) => one.at.getTime() - other.at.getTime() || Number(one.seal) - Number(other.seal));
};

/** Finds the bucket of a stage. @throws CommandError if there is no such stage. */
export const findBucket = async (stage: string): Promise<string> => {
  const output = await readOutputs(stage, "data").catch((error: unknown) => {
    throw new CommandError(`The bucket of stage ${stage} cannot be found: ${explainAwsError(error)}`);
  });
  const bucket = output("AuditAnchors");
  if (!bucket) throw new CommandError(`The stage ${stage} has no bucket for the audit. Deploy it first.`);
  return bucket;
};

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
