import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";

/** What can happen to a connection between two systems. */
export const wireFaults = ["cut", "stall", "half-close", "rubbish", "slow"] as const;
export type WireFault = (typeof wireFaults)[number];

/** Sees each piece before it is forwarded, and may await or throw: then it is dropped. */
export type Watch = (piece: Buffer, connection: number) => Promise<void> | void;

export interface Watches {
  readonly onRequest?: Watch;
  readonly onAnswer?: Watch;
}

export type Wire = Awaited<ReturnType<typeof startWire>>;

/** Neither HTTP, PostgreSQL, TLS nor a web socket; the same bytes each time. */
const rubbish = Buffer.from(Array.from({ length: 256 }, (_, n) => (n * 167 + 13) % 256));

/** How late a slow wire delivers each piece, in each direction. */
const latenessMs = 200;

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  lost?: boolean;
}

const pause = ({ near, far }: Pair) => {
  near.pause();
  far.pause();
};

const damage: Readonly<Record<WireFault, (pair: Pair) => void>> = {
  cut({ near, far }) {
    near.resetAndDestroy();
    far.destroy();
  },
  stall: pause,
  "half-close"({ near, far }) {
    far.destroy();
    near.end();
  },
  rubbish({ near, far }) {
    far.destroy();
    near.on("data", () => near.write(rubbish));
    near.write(rubbish);
  },
  // the open connections are what they were; the next pieces are late
  slow() {},
};

/**
 * Starts a TCP proxy to a local port that can fail: `cut` resets connections, `stall` forwards nothing and closes
 * nothing, `half-close` ends the answers, `rubbish` answers with bytes of no protocol, `slow` delivers each piece late.
 * Each applies to open and to new connections, until `well`: then stalled connections continue, broken ones close, and
 * new ones work.
 */
export const startWire = async (port: number, { onRequest, onAnswer }: Watches = {}) => {
  const pairs = new Set<Pair>();
  let fault: WireFault | undefined;
  let connections = 0;
  const server = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect(port, "127.0.0.1");
    const pair: Pair = { near, far };
    const connection = connections++;
    pairs.add(pair);
    /** @returns what resolves when the late pieces have been delivered. */
    const forward = (from: Socket, to: Socket, watch: Watch | undefined) => {
      let order: Promise<void> = Promise.resolve();
      let late = 0;
      from.on("data", (piece: Buffer) => {
        const pass = () => {
          if (to.writable && fault !== "rubbish" && !to.write(piece) && fault !== "stall") {
            from.pause();
            to.once("drain", () => fault !== "stall" && from.resume());
          }
        };
        if (!watch && fault !== "slow" && late === 0) return pass();
        const due = fault === "slow" ? setTimeout(latenessMs) : undefined;
        late += 1;
        order = order
          .then(() => due)
          .then(() => watch?.(piece, connection))
          .then(pass, () => {})
          .then(() => {
            late -= 1;
          });
      });
      from.on("end", () => (watch || late > 0 ? void order.then(() => to.end()) : to.end()));
      return () => order;
    };
    const directions = [forward(near, far, onRequest), forward(far, near, onAnswer)];
    const destroyBoth = () => {
      for (const socket of [near, far]) socket.destroy();
    };
    for (const socket of [near, far])
      socket
        .on("error", () => {})
        .once("close", () => {
          if (near.destroyed && far.destroyed) pairs.delete(pair);
          if (pair.lost || fault === "half-close" || fault === "rubbish") return;
          if (fault === "slow") void Promise.all(directions.map((settle) => settle())).then(destroyBoth);
          else destroyBoth();
        });
    // a new connection is cut with its first bytes: whether a client sees a cut before it writes is a race
    if (fault === "cut") near.prependOnceListener("data", () => fault === "cut" && damage.cut(pair));
    else if (fault) damage[fault](pair);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    /** How many have been opened. */
    connections: () => connections,
    /** Makes open and new connections fail. */
    fail(next: WireFault) {
      fault = next;
      for (const pair of pairs) damage[next](pair);
    },
    /** Replaces the far host: the open connections are silent but not closed; new ones work. */
    lose() {
      for (const pair of pairs) {
        pair.lost = true;
        pair.near.pause();
        pair.far.destroy();
      }
    },
    well() {
      const ended = fault === "half-close" || fault === "rubbish";
      fault = undefined;
      for (const { near, far, lost } of pairs)
        if (ended) near.destroy();
        else if (!lost) {
          near.resume();
          far.resume();
        }
    },
    stop() {
      server.close();
      for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy();
    },
  };
};
