import type postgres from "postgres";
import type { MessageClass } from "#lib/messaging/submission.ts";
import type { Bulk } from "./bulk-file.ts";
import { listExamples, listRules, type Template } from "./template.ts";
import { resolveTemplate, TemplateError } from "./template-version.ts";
import { templates } from "./templates.ts";

/** What a bulk run, or a template that code does not have, may be sent as. */
export const bulkClasses = ["bulk", "reminder", "transactional"] as const satisfies readonly MessageClass[];

/** A code would be readable in the outbox, and a file would have to be downloaded for each recipient. */
const isForBulk = ({ class: kind, file }: Template): boolean => kind !== "one-time-code" && !file;

/** Finds the template that bulk runs send under this name: the approved version, or that in code. */
export const findBulkTemplate = async (
  sql: postgres.Sql,
  name: string,
): Promise<Bulk["template"] | undefined> => {
  const template = await resolveTemplate(sql, name);
  return template && isForBulk(template) ? { name, ...template } : undefined;
};

/** A template to choose, with the columns that its file must have. */
export interface BulkTemplate {
  readonly name: string;
  readonly columns: readonly string[];
  /** A line that fits. */
  readonly example: readonly string[];
}

/** Of a text that a later release of the code does not take, for which the others stay usable. */
const leaveOut = (error: unknown): undefined => {
  if (!(error instanceof TemplateError)) throw error;
};

/** Lists the templates of bulk runs by name. */
export const listBulkTemplates = async (sql: postgres.Sql): Promise<BulkTemplate[]> => {
  const stored = await sql<{ name: string }[]>`
    select distinct name from notification.template where approver is not null and retired_at is null`;
  const names = new Set([...Object.keys(templates), ...stored.map(({ name }) => name)]);
  const found = await Promise.all(
    [...names].sort().map((name) => findBulkTemplate(sql, name).catch(leaveOut)),
  );
  return found.flatMap((template) =>
    template
      ? {
          name: template.name,
          columns: ["phone", ...Object.keys(listRules(template))],
          example: ["6281234567890", ...listExamples(template)],
        }
      : [],
  );
};
