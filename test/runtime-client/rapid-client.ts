// Stands in for `rapid-client.node`, the one part of aws-lambda-ric that is compiled: an HTTP client of the
// Runtime API with three functions. Handler loading, context, logging, errors and the loop around them stay
// AWS's own. What differs: the compiled one blocks the process while it reports a result; here the event loop
// goes on meanwhile, and the next invocation is asked for when the report has arrived.

// an ESM import of it would load undici, which the compiled client does not
const { Agent, request } = process.getBuiltinModule("node:http");

// biome-ignore lint/style/noProcessEnv: this is a part of the runtime, not of the product
const root = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime`;
const agent = new Agent({ keepAlive: true });

interface Reply {
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

const ask = (method: string, path: string, body?: string): Promise<Reply> =>
  new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    const asked = request(`${root}${path}`, { method, agent, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve({ body: text, headers: response.headers }));
      response.on("error", reject);
    });
    asked.on("error", reject).end(body);
  });

let reported: Promise<unknown> = Promise.resolve();

export const next = async () => {
  await reported;
  const { body, headers } = await ask("GET", "/invocation/next");
  return { bodyJson: body, headers };
};

export const done = (id: string, response: string): void => {
  reported = ask("POST", `/invocation/${id}/response`, response);
};

/** A third argument repeats the error for X-Ray, which is not used here. */
export const error = (id: string, response: string): void => {
  reported = ask("POST", `/invocation/${id}/error`, response);
};
