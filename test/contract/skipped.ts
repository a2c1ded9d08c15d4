/** A case cannot be checked: the system has no data for it, or an earlier step failed. */
export class Skipped extends Error {
  override readonly name = "Skipped";
}
