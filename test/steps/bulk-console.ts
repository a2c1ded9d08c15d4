import { textOf } from "./page-text.ts";

export const phoneOf = (row: number) => `62811${1_000_000 + row}`;
/** A file for the template `reminder` with so many valid lines, then others. */
export const fileOf = (count: number, ...others: string[]): string =>
  [
    "phone,name,subject,details",
    ...Array.from({ length: count }, (_, row) => `${phoneOf(row)},Warga ${row},Pajak,Bayar di loket`),
    ...others,
    "",
  ].join("\n");

/** What the form for a file has besides the file. */
export interface BulkFields {
  readonly template: string;
  readonly class?: string;
  readonly run?: string;
}

/** The bulk page of a console, as an operator's browser uses it without script. */
export const openBulkConsole = async (
  url: string,
  credentials: { readonly username: string; readonly password: string },
) => {
  const own = { origin: new URL(url).origin, "sec-fetch-site": "same-origin" };
  const login = await fetch(`${url}/console/login`, {
    method: "POST",
    headers: own,
    body: new URLSearchParams({ ...credentials }),
    redirect: "manual",
  });
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  const get = (path: string) => fetch(`${url}/console/bulk${path}`, { headers: { cookie } });
  const post = (action: string, body: FormData | URLSearchParams, headers: Record<string, string> = own) =>
    fetch(`${url}/console/bulk/${action}`, { method: "POST", headers: { cookie, ...headers }, body });
  /** Sends a form with a file. @returns the page that follows, as text and as it is. */
  const send = async (action: string, fields: Record<string, string>, csv?: string) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    if (csv !== undefined) form.set("file", new File([csv], "people.csv", { type: "text/csv" }));
    const page = await (await post(action, form)).text();
    return { page, text: textOf(page) };
  };
  const preview = async (csv: string, fields: BulkFields) => {
    const shown = await send("bulk-preview", { class: "bulk", ...fields }, csv);
    return { ...shown, fingerprint: /name="previewed" value="(\w+)"/.exec(shown.page)?.[1] ?? "" };
  };
  return {
    ...{ cookie, get, post, send, preview },
    read: async () => textOf(await (await get("")).text()),
    /** Previews a file and sends it as it was shown. */
    start: async (csv: string, fields: BulkFields) => {
      const { fingerprint } = await preview(csv, fields);
      return send("bulk-start", { class: "bulk", ...fields, previewed: fingerprint }, csv);
    },
    report: async (run: string) => (await get(`/report?run=${run}`)).text(),
  };
};
