/** The rule cannot be shown: the system lacks the data for it, or an earlier step did not come off. */
export class NotAsked extends Error {
  override readonly name = "NotAsked";
}
