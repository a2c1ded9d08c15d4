import { randomUUID } from "node:crypto";
import postgres from "postgres";
import { Pool } from "undici";
import { demoPhone } from "../../../infra/local/messenger/messenger.ts";
import { withCity } from "../../steps/temporary-city.ts";
import { median, printTable, type Result } from "./result.ts";
import { round } from "./timing.ts";

const atOnce = 32;
/** As many connections as the task has. */
const taskConnections = 10;

type Round = Record<
  "insertsPerSecond" | "pipelinedPerSecond" | "acceptsPerSecond" | "ratio" | "ratioToPipelined",
  number
>;

/** Works through `count` items, so many at once. @returns items a second. */
const rate = async (count: number, work: (index: number) => Promise<unknown>): Promise<number> => {
  let next = 0;
  const started = performance.now();
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (count / (performance.now() - started)) * 1_000;
};

/**
 * Measures how many messages a second the messenger accepts, each durable before its answer, as a ratio
 * to bare single-row INSERTs that commit on the same database, in turn in one run. Sending is paused.
 *
 * The ratio is to as many callers, each with a connection of its own. Beside it stands what the driver reaches
 * when it pipelines the same INSERTs over the task's number of connections, without waiting for one to commit.
 *
 * @param options `sends`: messages in each round.
 */
export const benchAccept = async ({
  sends,
  rounds = 5,
}: {
  sends: number;
  rounds?: number;
}): Promise<Result> => {
  const rows = await withCity(
    1,
    async ({ database, messengerUrl, secrets }, _, signal) => {
      const connect = (max: number) => postgres(database.adminUrl, { max, fetch_types: false });
      const callers = connect(atOnce);
      const pipeline = connect(taskConnections);
      const { token } = JSON.parse(secrets.find("municipal/local/messenger-token")?.value ?? "{}");
      const task = new Pool(messengerUrl, { connections: atOnce });
      await callers`update messaging.control set paused = true`;
      await callers`create table bare (id text primary key, phone text not null, content text not null)`;
      const insertBy = (sql: postgres.Sql) => () =>
        sql`insert into bare values (${randomUUID()}, ${demoPhone}, ${"Halo"})`;
      let sent = 0;
      const send = async (index: number) => {
        const { statusCode, body } = await task.request({
          method: "POST",
          path: "/messages",
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          body: JSON.stringify({
            // of each sender, only so many may wait
            sender: `api:bench-${Math.floor(sent++ / 5_000)}`,
            kind: "text",
            phone: demoPhone,
            text: `Halo ${index}`,
          }),
        });
        await body.dump();
        if (statusCode !== 201) throw new Error(`the task answered ${statusCode}`);
      };
      const measured: Round[] = [];
      // not counted: code and connections that are still cold
      for (const work of [send, insertBy(callers), insertBy(pipeline)]) await rate(sends / 3, work);
      while (measured.length < rounds) {
        signal.throwIfAborted();
        const insertsPerSecond = Math.round(await rate(sends, insertBy(callers)));
        const pipelinedPerSecond = Math.round(await rate(sends, insertBy(pipeline)));
        const acceptsPerSecond = Math.round(await rate(sends, send));
        measured.push({
          ...{ insertsPerSecond, pipelinedPerSecond, acceptsPerSecond },
          ratio: round(acceptsPerSecond / insertsPerSecond),
          ratioToPipelined: round(acceptsPerSecond / pipelinedPerSecond),
        });
      }
      await Promise.all([callers.end(), pipeline.end()]);
      await task.close();
      return measured;
    },
    { durable: true },
  );
  printTable(rows);
  const medianRatio = round(median(rows.map(({ ratio }) => ratio)));
  console.error(`median ratio ${medianRatio}`);
  return { bench: "accept", figures: { sends, atOnce, medianRatio, rounds: rows } };
};
