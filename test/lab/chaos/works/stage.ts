import postgres from "postgres";
import { Credentials } from "#lib/db/credentials.ts";
import type { City } from "../../../../infra/local/city.ts";
import type { System, Via } from "../../../../infra/local/loopback.ts";
import { startFunction } from "../../../steps/function.ts";
import { Points, watchDatabase, watchRequests } from "../../../steps/points.ts";
import { startWire, type Watches, type Wire } from "../../../steps/wire.ts";

/** A city in which programs are killed, and the points that they cross. */
export interface Stage {
  readonly city: City;
  readonly folder: string;
  readonly points: Points;
}

const secretWrite = /x-amz-target: secretsmanager\.((?:Put|Update)\w+)/i;
const submission = /^POST \/messages\S*/;

/** Wires with the points at which a function of a city writes: to the database, to the messenger, or a secret. */
export const startWatching = () => {
  const points = new Points();
  const wires: Wire[] = [];
  const watches: Partial<Record<System, Watches>> = {
    // the messenger writes on its own
    database: watchDatabase(points, "municipal_messenger"),
    secrets: watchRequests(points, (head) => secretWrite.exec(head)?.[1]),
    messenger: watchRequests(points, (head) => submission.exec(head)?.[0]),
  };
  const via: Via = async (system, port) => {
    const wire = await startWire(port, watches[system]);
    wires.push(wire);
    return wire.port;
  };
  const stop = () => {
    for (const wire of wires) wire.stop();
  };
  return { points, via, stop };
};

/** Runs work as the administrator, past the wires. */
export const asAdmin = async <T>({ city }: Stage, work: (sql: postgres.Sql) => Promise<T>): Promise<T> => {
  const options = { max: 1, fetch_types: false, onnotice: () => {} };
  const sql = postgres(city.database.adminUrl, options);
  return work(sql).finally(() => sql.end());
};

/** The credentials in a role's secret; their port is that of the wire. */
export const loginOf = ({ city }: Stage, role: string): Credentials =>
  Credentials.parse(JSON.parse(city.secrets.find(`municipal/local/database/${role}`)?.value ?? "{}"));

export const urlOf = (stage: Stage, role: string): string => {
  const { host, port, username, password, dbname } = loginOf(stage, role);
  return `postgres://${username}:${password}@${host}:${port}/${dbname}`;
};

interface Call {
  readonly contentType?: string;
  readonly body?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** What the gateway's authorizer found out. */
  readonly authorizer?: Readonly<Record<string, string>>;
}

/** Calls an endpoint's function as the gateway does. */
export const callEndpoint = (
  { city }: Stage,
  fn: string,
  { contentType = "", body, query, authorizer }: Call,
) => {
  const { pathname: path } = new URL(fn, "http://functions");
  const lists = Object.fromEntries(Object.entries(query ?? {}).map(([name, value]) => [name, [value]]));
  return startFunction(city, fn, {
    ...{ httpMethod: body === undefined ? "GET" : "POST", path, resource: path },
    ...{ body: body ?? null, isBase64Encoded: false, pathParameters: null },
    headers: { "content-type": contentType },
    multiValueHeaders: { "content-type": [contentType] },
    ...{ queryStringParameters: query ?? null, multiValueQueryStringParameters: query ? lists : null },
    requestContext: { requestId: "a-request", identity: { sourceIp: "192.0.2.1" }, authorizer },
  });
};

export const answerOf = async ({ ended }: ReturnType<typeof startFunction>) => {
  const { figures, lines } = await ended;
  const { statusCode, body } = figures?.answer ?? { statusCode: lines.join("; "), body: "{}" };
  return { status: statusCode as number, json: JSON.parse(body) };
};
