/** What one check has found. */
export interface Finding {
  /** What was attacked, for the table. */
  readonly about: string;
  readonly tried: number;
  /** What fell, one line each. Contains generated inputs, but no credentials. */
  readonly fell: readonly string[];
}

/** Counts trials and what fell in them. */
export class Tally {
  readonly #about: string;
  readonly #fell: string[] = [];
  #tried = 0;

  constructor(about: string) {
    this.#about = about;
  }

  /** @param reason why it fell; undefined if it held. */
  count(reason: string | undefined): void {
    this.#tried += 1;
    if (reason !== undefined) this.#fell.push(reason);
  }

  get finding(): Finding {
    return { about: this.#about, tried: this.#tried, fell: this.#fell };
  }
}

const maxLines = 5;

/** The findings as a Markdown table, and below it the first lines of what fell. */
export const renderFindings = (findings: readonly Finding[]): string => {
  const rows = findings.map(
    ({ about, tried, fell }) => `| ${about} | ${tried.toLocaleString("en")} | ${fell.length} |`,
  );
  const lines = findings.flatMap(({ about, fell }) =>
    fell.slice(0, maxLines).map((reason) => `${about}: ${reason}`),
  );
  const table = ["| Attack | Attempts | Successful |", "| --- | ---: | ---: |", ...rows].join("\n");
  return lines.length === 0 ? table : `${table}\n\n${lines.join("\n")}`;
};
