import type { Watch, Watches } from "./wire.ts";

/** A step that crosses a wire: before it arrives, or when its answer is on the way back. */
export interface Point {
  readonly step: string;
  /** The how-many-th of this name, from 1. */
  readonly turn: number;
}

const dropped = () => new Error("the one who sent this is dead");

/** Counts the steps that cross wires, and kills at one of them. */
export class Points {
  readonly #seen = new Map<string, number>();
  #armed: (Point & { readonly kill: () => Promise<unknown> }) | undefined;
  /** Whether the kill has happened, so that nothing of the dead crosses a wire. */
  #dead = false;
  #killed = false;

  /** Starts to count anew. @param at where to kill; nowhere by default. */
  arm(at?: Point & { readonly kill: () => Promise<unknown> }): void {
    this.#seen.clear();
    this.#armed = at;
    this.#killed = false;
    this.#dead = false;
  }

  /** Lets everything cross, and continues to count. */
  disarm(): void {
    this.#armed = undefined;
    this.#dead = false;
  }

  /** Whether it has killed since it was armed. */
  hasKilled(): boolean {
    return this.#killed;
  }

  /** The points that were crossed since it was armed. */
  list(): Point[] {
    return [...this.#seen].flatMap(([step, count]) =>
      Array.from({ length: count }, (_, index) => ({ step, turn: index + 1 })),
    );
  }

  async cross(step: string): Promise<void> {
    if (this.#dead) throw dropped();
    const turn = (this.#seen.get(step) ?? 0) + 1;
    this.#seen.set(step, turn);
    if (this.#armed?.step !== step || this.#armed.turn !== turn) return;
    const { kill } = this.#armed;
    this.#armed = undefined;
    this.#dead = true;
    this.#killed = true;
    await kill();
    throw dropped();
  }
}

/** Splits a stream of PostgreSQL's messages. A client's first message has no type. */
const messageReader = (startsUntyped: boolean) => {
  let rest = Buffer.alloc(0);
  let untyped = startsUntyped;
  return (piece: Buffer): { type: string; body: Buffer }[] => {
    rest = Buffer.concat([rest, piece]);
    const found: { type: string; body: Buffer }[] = [];
    for (;;) {
      const skipped = untyped ? 0 : 1;
      if (rest.length < skipped + 4) return found;
      const end = skipped + rest.readUInt32BE(skipped);
      if (rest.length < end) return found;
      const type = untyped ? "" : String.fromCharCode(rest[0] ?? 0);
      found.push({ type, body: Buffer.from(rest.subarray(skipped + 4, end)) });
      untyped = false;
      rest = rest.subarray(end);
    }
  };
};

const writes =
  /\b(insert|update|delete|truncate|commit|copy|create|alter|drop|grant|call)\b|(select|from) [a-z_]+\.[a-z_]+\(/i;

const textsOf = (body: Buffer): string[] => body.toString("utf8").split("\0");

/** A statement in one line without its literals, short enough to be the name of a step. */
const nameOf = (sql: string): string =>
  sql
    .replace(/'[^']*'/g, "''")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 90);

/** Messages of a COPY that the server does not answer one by one. */
const copyMessages: Readonly<Record<string, string>> = { d: "rows of a COPY", c: "the end of a COPY" };

interface Statement {
  /** Undefined for one that writes nothing. */
  readonly step: string | undefined;
  readonly isAnswered: boolean;
}

/** Names the writing statements of a connection that are complete in this piece. */
const statementReader = (ignoredUser: string | undefined) => {
  const read = messageReader(true);
  const prepared = new Map<string, string>();
  let isIgnored = false;
  return (piece: Buffer): Statement[] => {
    const statements: Statement[] = [];
    for (const { type, body } of read(piece)) {
      const texts = textsOf(body);
      const [first = "", second = ""] = texts;
      if (type === "") isIgnored = ignoredUser !== undefined && texts.includes(ignoredUser);
      if (type === "P") prepared.set(first, second);
      const sql = type === "Q" ? first : type === "B" ? prepared.get(second) : undefined;
      const isWrite = sql !== undefined && writes.test(sql) && !isIgnored;
      if (type === "Q" || type === "B")
        statements.push({ step: isWrite ? nameOf(sql) : undefined, isAnswered: true });
      const step = isIgnored ? undefined : copyMessages[type];
      if (step) statements.push({ step, isAnswered: false });
    }
    return statements;
  };
};

/**
 * Watches a wire to the database: each writing statement is crossed once on its way, once when it is done.
 *
 * @param ignoredUser a role whose connections are not watched.
 */
export const watchDatabase = (points: Points, ignoredUser?: string): Watches => {
  const connections = new Map<number, ReturnType<typeof openConnection>>();
  const openConnection = () => ({
    read: statementReader(ignoredUser),
    readAnswer: messageReader(false),
    asked: [] as (string | undefined)[],
  });
  const find = (id: number) => {
    const known = connections.get(id) ?? openConnection();
    connections.set(id, known);
    return known;
  };
  return {
    async onRequest(piece, id) {
      const { read, asked } = find(id);
      for (const { step, isAnswered } of read(piece)) {
        if (isAnswered) asked.push(step);
        if (step) await points.cross(`before ${step}`);
      }
    },
    async onAnswer(piece, id) {
      const { readAnswer, asked } = find(id);
      // the driver ends each statement with a Sync of its own
      for (const { type } of readAnswer(piece)) {
        const step = type === "Z" ? asked.shift() : undefined;
        if (step) await points.cross(`after ${step}`);
      }
    },
  };
};

/**
 * Watches a wire of HTTP: each writing request is crossed once on its way, once when it is answered.
 *
 * @param find returns the name of a writing request, which its head contains.
 */
export const watchRequests = (points: Points, find: (head: string) => string | undefined): Watches => {
  const asked = new Map<number, string>();
  return {
    async onRequest(piece, id) {
      const step = find(piece.toString("latin1"));
      if (!step) return;
      asked.set(id, step);
      await points.cross(`before ${step}`);
    },
    async onAnswer(_, id) {
      const step = asked.get(id);
      asked.delete(id);
      if (step) await points.cross(`after ${step}`);
    },
  };
};

/** Watches a wire whose content is encrypted: each piece is a step. */
export const watchPieces = (points: Points, name: string): Watches => {
  const crossing =
    (direction: string): Watch =>
    () =>
      points.cross(`${direction} ${name}`);
  return { onRequest: crossing("frame to"), onAnswer: crossing("frame from") };
};
