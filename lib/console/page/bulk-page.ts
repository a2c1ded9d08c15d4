import { type Html, html } from "#lib/html.ts";
import type { BulkState, ShownPreview } from "../state/bulk.ts";
import { renderPreview } from "./bulk-preview-section.ts";
import { renderBulkRuns } from "./bulk-runs-section.ts";
import { renderFrame } from "./page.ts";
import { renderTemplates } from "./templates-section.ts";
import { renderUpload } from "./upload-section.ts";
import type { View } from "./view.ts";

/** What the page of bulk notifications shows, and to whom. */
export interface BulkView extends Pick<View, "operator" | "notice" | "now" | "language" | "words"> {
  /** Undefined if it cannot be read. */
  readonly state: BulkState | undefined;
  readonly preview: ShownPreview | undefined;
  /** What the form had that this page answers; an empty text for what it had not. */
  readonly field: (name: string) => string;
  readonly maxFileBytes: number;
}

export const bulkHome = "/console/bulk";

const renderContent = (view: BulkView): Html => {
  const { bulk } = view.words;
  return html`<p><a href="/console">${bulk.back}</a></p>
${view.state ? undefined : html`<p class="banner bad">${bulk.unavailable}</p>`}
${renderUpload(view)}
${renderPreview(view)}
${renderBulkRuns(view)}
${renderTemplates(view)}`;
};

/** Renders the page of bulk notifications. It works without the script, by reloading. */
export const renderBulkPage = (view: BulkView): string => {
  const { bulk, title } = view.words;
  return renderFrame(view, bulkHome, `${bulk.title} · ${title}`, renderContent(view));
};
