import { Readable } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { deadline } from "#lib/deadline.ts";
import { log } from "#lib/log.ts";
import { BulkName } from "#lib/messaging/submission.ts";
import { onceClosed } from "#lib/once-closed.ts";
import { type BulkOptions, bulkActionNames, performBulk } from "./bulk-action.ts";
import type { BulkState, ShownPreview } from "./bulk-state.ts";
import type { OperatorLogin, OperatorLogins } from "./login/operator-login.ts";
import type { LoginOptions } from "./login-routes.ts";
import { findLogin, leadToLogin, operatorsOnly } from "./operator-request.ts";
import { renderError } from "./page.ts";
import { bulkHome, renderBulkPage } from "./panels/bulk.ts";
import { accountOf, fieldOf, languageOf, sendPage } from "./request.ts";
import { languages } from "./words.ts";

/** A file of 20,000 recipients with 200 bytes each. */
const maxFileBytes = 4 * 1024 * 1024;
const maxFormBytes = maxFileBytes + 16 * 1024;
/** Each takes its bytes twice while it is read. */
const maxUploads = 2;
const stateTimeoutMs = 4_000;

/** Small enough for its lines to fit in memory, even if all are blank. */
const chunkBytes = 64 * 1024;

/** Reads a file in chunks, between which other work has its turn. */
async function* readChunks(file: File): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(await file.arrayBuffer());
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    yield bytes.subarray(at, at + chunkBytes);
    await setImmediate();
  }
}

/** Reads the file of a form; an empty one if it has none. */
const fileOf = ({ body }: FastifyRequest): Readable => {
  const file = body instanceof FormData ? body.get("file") : null;
  return file instanceof File ? Readable.from(readChunks(file)) : Readable.from([]);
};

const findState = (options: BulkOptions): Promise<BulkState | undefined> =>
  deadline(options.bulk.read(), stateTimeoutMs).catch((error: unknown) => {
    log.error("cannot read the bulk runs for the console", { error });
    return undefined;
  });

const sendCsv = (reply: FastifyReply, name: string, csv: string): FastifyReply =>
  reply
    .type("text/csv; charset=utf-8")
    .header("content-disposition", `attachment; filename="${name}.csv"`)
    .send(csv);

type ServeOptions = BulkOptions & LoginOptions;

const pageFor = async (
  options: ServeOptions,
  { operator, notice }: Pick<OperatorLogin, "operator" | "notice">,
  request: FastifyRequest,
  preview?: ShownPreview,
): Promise<string> => {
  const language = languageOf(request);
  const say = languages[language];
  const state = await findState(options);
  // what the operator has chosen stays in the form that starts the run
  const field = (name: string) => fieldOf(request, name);
  return renderBulkPage({
    ...{ operator, notice, language, say, now: new Date(), state },
    ...{ preview, field, maxFileBytes },
  });
};

/** Reads forms with a file, of operators who have logged in, and of no more at once than memory allows. */
const readFiles = (scope: FastifyInstance, options: ServeOptions, logins: OperatorLogins): void => {
  let uploads = 0;
  // before the body is read
  scope.addHook("onRequest", async (request, reply) => {
    // texts are small
    if (!/^multipart\//i.test(request.headers["content-type"] ?? "")) return;
    const login = await findLogin(options, logins, request);
    if (!login) {
      leadToLogin(logins, request, reply);
    } else if (uploads >= maxUploads) {
      login.notice = { kind: "failed", text: languages[languageOf(request)]("failures.tooManyFiles") };
      reply.redirect(bulkHome, 303);
    } else {
      uploads += 1;
      onceClosed(reply.raw, () => {
        uploads -= 1;
      });
    }
  });
  scope.addContentTypeParser(
    "multipart/form-data",
    { parseAs: "buffer", bodyLimit: maxFormBytes },
    async ({ headers }: FastifyRequest, body: Buffer) => {
      try {
        const type = { "content-type": headers["content-type"] ?? "" };
        return await new Response(new Uint8Array(body), { headers: type }).formData();
      } catch {
        throw Object.assign(new Error("the form cannot be read"), { statusCode: 400 });
      }
    },
  );
};

/** Says on the page that a file is too large; all other errors are those of the console. */
const explainSize = (scope: FastifyInstance, logins: OperatorLogins): void => {
  const { errorHandler } = scope;
  scope.setErrorHandler((error: FastifyError, request, reply) => {
    const login = logins.find(request.headers.cookie, false);
    if (error.statusCode !== 413 || !login) return errorHandler(error, request, reply);
    const megabytes = maxFileBytes / 1024 / 1024;
    const text = languages[languageOf(request)]("failures.fileTooLarge", { megabytes });
    login.notice = { kind: "failed", text };
    return reply.redirect(bulkHome, 303);
  });
};

/** Serves the page of bulk notifications: files of recipients, their runs and reports, and templates. */
export const serveBulk = (scope: FastifyInstance, options: ServeOptions, logins: OperatorLogins): void => {
  const asOperator = operatorsOnly(options, logins);
  readFiles(scope, options, logins);
  explainSize(scope, logins);
  scope.get(
    "/bulk",
    asOperator(async (login, request, reply) => sendPage(reply, 200, await pageFor(options, login, request))),
  );
  scope.get(
    "/bulk/sample",
    asOperator(async (_, request, reply) => {
      const { template } = request.query as { template?: unknown };
      const choice = (await findState(options))?.choices.find(({ name }) => name === template);
      if (!choice) return sendPage(reply, 404, renderError(languageOf(request), "notFound", "noPage"));
      return sendCsv(reply, choice.name, `${choice.columns.join(",")}\n${choice.example.join(",")}\n`);
    }),
  );
  scope.get(
    "/bulk/report",
    asOperator(async ({ operator }, request, reply) => {
      const { run } = request.query as { run?: unknown };
      const name = BulkName.safeParse(run).data;
      const report = name && (await options.bulk.report(name));
      if (!name || !report)
        return sendPage(reply, 404, renderError(languageOf(request), "notFound", "noPage"));
      await options.acts.record(operator, "bulk-report", name);
      return sendCsv(reply, name, report);
    }),
  );
  for (const name of bulkActionNames)
    scope.post(
      `/bulk/${name}`,
      asOperator(async (login, request, reply) => {
        let preview: ShownPreview | undefined;
        login.notice = await performBulk(options, name, {
          operator: login.operator,
          account: accountOf(request),
          field: (field) => fieldOf(request, field),
          file: () => fileOf(request),
          showPreview: (shown) => {
            preview = shown;
          },
          say: languages[languageOf(request)],
        });
        log.info("console action", { operator: login.operator.id, action: name, result: login.notice.kind });
        // shown once, and not kept: it has texts of the file
        if (preview) return sendPage(reply, 200, await pageFor(options, login, request, preview));
        return reply.redirect(bulkHome, 303);
      }),
    );
};
