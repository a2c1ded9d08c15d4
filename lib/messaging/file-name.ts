const maxLength = 200;

/** The name under which the recipient sees a file: of a long one the end, which says what kind it is. */
export const fileName = (sent: string): string | undefined =>
  sent.slice(-maxLength).toWellFormed().trim() || undefined;
