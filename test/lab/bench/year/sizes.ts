/** How much a stage has stored in a year. */
export interface Sizes {
  readonly residents: number;
  /** Of the last 30 days: older ones are deleted. */
  readonly messages: number;
  /** Reads of residents in the year. */
  readonly audits: number;
  /** Of the invented data. */
  readonly seed: number;
}

/** What follows from the sizes. What a day brings does not grow with them, but is no more than a small part of them. */
export const partsOf = ({ messages }: Sizes) => {
  const upTo = (most: number, share: number) => Math.max(10, Math.min(most, Math.floor(messages / share)));
  return {
    /** Persons who get messages, about ten in 30 days. */
    persons: Math.max(100, Math.floor(messages / 10)),
    /** Messages to known contacts that are due. */
    due: upTo(5_000, 20),
    /** Messages to new contacts, when the day's limit is reached. */
    newContacts: upTo(20_000, 20),
    scheduled: upTo(20_000, 20),
    quiet: upTo(20_000, 20),
    /** Changes of state that wait for an address that fails. */
    callbackEvents: upTo(400_000, 1),
    /** Runs of notification jobs, every few minutes for 30 days. */
    runs: upTo(43_200, 10),
    /** Recipients of the largest bulk run. */
    bulkRecipients: upTo(20_000, 20),
    /** Logins, sessions, operators' actions and the like. */
    others: upTo(50_000, 10),
  };
};

export type Parts = ReturnType<typeof partsOf>;
