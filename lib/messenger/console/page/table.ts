import { type Html, html } from "#lib/html.ts";
import { hiddenUnless } from "./view.ts";

/** Renders the table of a section with a title, hidden without rows. The roles are explicit as in outbox-section.ts. */
export const renderTable = (
  id: string,
  columns: Readonly<Record<string, string>> | readonly string[],
  rows: readonly Html[],
  style: "plain" | "messages" | "alerts" = "plain",
): Html => html`<table role="table" class="${style}" aria-labelledby="${id}-title"${hiddenUnless(rows.length > 0)}>
<thead role="rowgroup"><tr role="row">${Object.values(columns).map((name) => html`<th role="columnheader" scope="col">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows}</tbody>
</table>`;
