import type { Passing } from "../../steps/answer-proxy.ts";

const edit = (passing: Passing, change: (json: never) => unknown) => {
  passing.body = JSON.stringify(change(JSON.parse(passing.body) as never));
};
const isPage = ({ path, status }: Passing) =>
  path.startsWith("/v1/penduduk") && !path.endsWith("/verify") && status === 200;
type Page = { total: unknown; data: Record<string, string>[] };
const eachRow = (passing: Passing, change: (row: Record<string, string>) => object) => {
  if (isPage(passing)) edit(passing, (page: Page) => ({ ...page, data: page.data.map(change) }));
};

/** What is wrong, the change to an answer, the names of the cases that fail, and what the first one received. */
export const wrongAnswers: readonly [string, (passing: Passing) => void, readonly RegExp[], string][] = [
  [
    "the gateway's own 403 instead of 404",
    (passing) => {
      if (passing.method !== "GET" || passing.path !== "/v1/penduduk") return;
      passing.status = 403;
      passing.body = '{"message":"Missing Authentication Token"}';
    },
    [/^answers 404 in JSON to another method or path without a key/, /with a key/],
    "403 Missing Authentication Token",
  ],
  [
    "a total as text",
    (passing) => {
      if (isPage(passing)) edit(passing, (page: Page) => ({ ...page, total: String(page.total) }));
    },
    [/^returns total and page as JSON integers/],
    "a string",
  ],
  [
    "an unmasked column",
    (passing) => eachRow(passing, (row) => ({ ...row, alamat: "JL. MERDEKA 17" })),
    [/^returns exactly the ten fields/],
    "that field",
  ],
  [
    "a mask that shows too much",
    (passing) => eachRow(passing, (row) => ({ ...row, nik_alt: "9999010101******" })),
    [/^returns exactly the ten fields/],
    "text of another form",
  ],
  [
    "times with a time zone",
    (passing) => eachRow(passing, (row) => ({ ...row, created_at: `${row.created_at}Z` })),
    [/^returns local time/],
    "text of another form",
  ],
  [
    "an error with the wrong status",
    (passing) => {
      if (passing.messaging && passing.body.includes("BAD_BOUNDARY")) passing.status = 400;
    },
    [/^answers the contract's 500/],
    "400 BAD_BOUNDARY: request Content-Type has bad boundary or is not multipart/form-data",
  ],
  [
    "no challenge by the messaging API",
    (passing) => {
      if (passing.messaging) passing.headers.delete("www-authenticate");
    },
    [/^answers 401 with a Basic challenge/],
    "none",
  ],
  [
    "CORS headers of the messaging API",
    (passing) => {
      if (passing.messaging && passing.status === 401)
        passing.headers.set("access-control-allow-origin", "*");
    },
    [/^sends no CORS headers/],
    "«*»",
  ],
  [
    "an envelope around the gallery",
    (passing) => {
      if (passing.body.startsWith("[{")) passing.body = `{"data":${passing.body}}`;
    },
    [/^lists the photos of a destination as a bare array/],
    "a object",
  ],
  [
    "a missing request id",
    (passing) => {
      if (!passing.messaging) passing.headers.delete("x-request-id");
    },
    [/^has a request id in every response/],
    "none",
  ],
  [
    "an unavailable messenger",
    (passing) => {
      if (passing.status !== 404 || !passing.body.includes("MESSAGE_NOT_FOUND")) return;
      passing.status = 503;
      passing.body = '{"status":false,"code":"SESSION_UNAVAILABLE","message":"Away"}';
    },
    [/^answers 404 to an unknown message id/],
    "503 SESSION_UNAVAILABLE: Away",
  ],
];
