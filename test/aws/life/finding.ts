export interface Finding {
  /** The stage, and the documented configuration that it had. */
  readonly configuration: string;
  /** What was done with the stage. */
  readonly step: string;
  /** Stack and logical id. */
  readonly resource: string;
  /** `refused`, `orphaned`, `lost` or `stale`, and why. */
  readonly what: string;
}

/** Takes a finding of one step. */
export type Report = (resource: string, what: string) => void;
