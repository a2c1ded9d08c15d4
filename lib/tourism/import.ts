import { cleanInteger } from "#lib/import/cell.ts";
import { checkBlank, type ImportTable, optionalText } from "#lib/import/table.ts";
import { destinationIdPattern } from "#lib/routes/tourism.ts";

const maxInteger = 2_147_483_647;

const checkId = (value: string) =>
  /^\d{1,10}$/.test(value) && Number(value) <= maxInteger
    ? undefined
    : `must be a whole number up to ${maxInteger}`;

const checkUrl = (value: string) =>
  /^https?:$/.test(URL.parse(value)?.protocol ?? "") ? undefined : "must be an http or https address";

const checkDestination = (value: string) =>
  destinationIdPattern.test(value) ? undefined : "must have 1 to 64 letters, digits, '.', '_' or '-'";

export const categoryImport: ImportTable = {
  name: "categories",
  table: "tourism.category",
  key: "id",
  columns: [
    { header: "ktipe_id", rule: "text, not blank; the key", column: "id", type: "text", check: checkBlank },
    { header: "ktipe_nama", rule: "text, not blank", column: "name", type: "text", check: checkBlank },
    optionalText("ktipe_active", "active"),
  ],
};

export const galleryImport: ImportTable = {
  name: "gallery",
  table: "tourism.photo",
  key: "id",
  columns: [
    {
      header: "id",
      rule: "a whole number up to 2147483647; the key",
      column: "id",
      type: "integer",
      clean: cleanInteger,
      check: checkId,
    },
    {
      header: "pr_id",
      rule: "1 to 64 letters, digits, '.', '_' or '-'",
      column: "destination_id",
      type: "text",
      check: checkDestination,
    },
    { header: "url_foto", rule: "an http or https address", column: "url", type: "text", check: checkUrl },
    optionalText("caption", "caption"),
  ],
};
