import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { invented } from "#lib/openapi/addresses.ts";
import { isDescribed } from "#lib/openapi/document.ts";
import { integrationRoutes, messagingRoutes } from "#lib/routes/index.ts";
import { readPath } from "../../infra/local/gateway/event.ts";
import type { Send } from "../contract/system.ts";
import { redocly } from "../steps/redocly.ts";

type Outgoing = Parameters<Send>[0];
type Incoming = Awaited<ReturnType<Send>>;

/** One request to an endpoint, and its answer. */
export interface Exchange {
  readonly operation: string;
  readonly outgoing: Outgoing & { readonly body: string | undefined };
  readonly answer: Incoming;
}

const routesOf = { integration: integrationRoutes, messaging: messagingRoutes };

const operationOf = ({ api, method, path }: Outgoing): string | undefined => {
  const [address = ""] = path.split("?");
  const route = routesOf[api].find(
    (one) => one.method === method && isDescribed(one) && readPath(one.path, address),
  );
  return route && `${route.method} ${route.path}`;
};

const pairs = (entries: Iterable<readonly [string, string]>) =>
  [...entries].map(([name, value]) => ({ name, value }));

/** A form as it is sent. */
const encode = async ({ body, headers, ...rest }: Outgoing) => {
  if (!(body instanceof FormData)) return { ...rest, headers, body };
  const encoded = new Response(body);
  const type = encoded.headers.get("content-type") ?? "";
  return { ...rest, headers: { ...headers, "content-type": type }, body: await encoded.text() };
};

/** An exchange in HTTP Archive 1.2, with the addresses of the built document. */
const entryOf = ({ outgoing: { api, method, path, headers, body }, answer }: Exchange) => {
  const url = new URL(`${invented[api]}${path}`);
  return {
    startedDateTime: "2025-01-01T00:00:00.000Z",
    time: 1,
    request: {
      ...{ method, url: url.href, httpVersion: "HTTP/1.1" },
      headers: pairs(Object.entries(headers)),
      queryString: pairs(url.searchParams),
      cookies: [],
      ...(body !== undefined && {
        postData: { mimeType: headers["content-type"] ?? "", text: body },
      }),
    },
    response: {
      ...{ status: answer.status, statusText: "", httpVersion: "HTTP/1.1", cookies: [] },
      headers: pairs(answer.headers),
      content: { mimeType: answer.headers.get("content-type") ?? "", text: answer.text },
    },
  };
};

/** Records the requests of tests to endpoints, and the answers. Requests to unknown paths are not recorded. */
export const startRecording = () => {
  const exchanges: Exchange[] = [];
  const through =
    (send: Send): Send =>
    async (outgoing) => {
      const answer = await send(outgoing);
      const operation = operationOf(outgoing);
      if (operation) exchanges.push({ operation, outgoing: await encode(outgoing), answer });
      return answer;
    };
  return { exchanges, through };
};

/** What Redocly's `drift` reports, as far as tests read it. */
interface Verdict {
  readonly problems: readonly {
    readonly message: string;
    readonly severity: string;
    readonly path: string;
  }[];
  /** `GET /path status` of each documented answer that no exchange shows. */
  readonly unseen: readonly string[];
}

interface Coverage {
  readonly operations: readonly {
    readonly method: string;
    readonly path: string;
    readonly missing: readonly { readonly kind: string; readonly status?: string }[];
  }[];
}

const listUnseen = ({ operations }: Coverage): string[] =>
  operations.flatMap(({ method, path, missing }) =>
    missing.filter(({ kind }) => kind === "response").map(({ status }) => `${method} ${path} ${status}`),
  );

/** Checks the exchanges against the built document. */
export const judge = async (exchanges: readonly Exchange[]): Promise<Verdict> => {
  const folder = mkdtempSync(join(tmpdir(), "traffic-"));
  const [archive, report, coverage] = ["traffic.har", "report.json", "coverage.json"].map((file) =>
    join(folder, file),
  );
  if (!archive || !report || !coverage) throw new Error("three files");
  const log = { version: "1.2", creator: { name: "tests", version: "1" }, entries: exchanges.map(entryOf) };
  writeFileSync(archive, JSON.stringify({ log }));
  try {
    const { output } = await redocly(
      ...["drift", archive, "--api", "dist/openapi.json", "--traffic-format", "har"],
      // no security rules: some requests are rejected on purpose
      ...["--rules", "undocumented-endpoint,schema-consistency", "--min-severity", "error"],
      ...["--format", "json", "--output", report, "--coverage-output", coverage],
    );
    try {
      const { problems } = JSON.parse(readFileSync(report, "utf8"));
      return { problems, unseen: listUnseen(JSON.parse(readFileSync(coverage, "utf8"))) };
    } catch {
      throw new Error(`there is no report: ${output}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
};
