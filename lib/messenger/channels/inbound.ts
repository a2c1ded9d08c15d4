/** What a person has sent to the city's number. It must be neither stored nor logged. */
export interface Inbound {
  /** The sender's number; undefined where the platform gives only an address that does not reveal it. */
  readonly phone: string | undefined;
  /** What the person has typed or chosen; undefined for anything else, such as a picture with its caption. */
  readonly text: string | undefined;
  readonly sentAt: Date;
  /** Whether it replaces an earlier message. */
  readonly isEdit: boolean;
  /** Whether it was sent before the messenger was connected. */
  readonly isLate: boolean;
}
