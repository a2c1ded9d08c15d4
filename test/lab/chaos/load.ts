import { randomUUID } from "node:crypto";
import type { Scene } from "./scene.ts";
import { submit } from "./submit.ts";

/** An accepted message; listed once, even if the request was repeated. */
export interface Sent {
  readonly id: string;
  readonly phone: string;
  readonly text: string;
}

export interface LoadOptions {
  readonly messages: number;
  /** Limit of accepted messages that have not arrived, so that the load lasts as long as the faults. */
  readonly backlog?: number;
}

const timeoutMs = 120_000;
/** Every so many-th message to a phone is a file, which is uploaded before it is sent. */
const fileEvery = 5;

/** Clients that send to each phone one message after the other, and repeat what was not answered. */
export class Load {
  readonly accepted: Sent[] = [];
  readonly #scene: Scene;
  readonly #name = randomUUID();
  readonly #seen = new Map<string, number>();
  #arrived = 0;
  #backlog: number;
  /** Requests that had to be made again. */
  repeats = 0;
  /** Resolves when all messages are accepted. */
  readonly done: Promise<void>;

  constructor(scene: Scene, { messages, backlog = Number.POSITIVE_INFINITY }: LoadOptions) {
    this.#scene = scene;
    this.#backlog = backlog;
    const { numbers } = scene;
    const lanes = numbers.map((phone, lane) => {
      const count = Math.floor(messages / numbers.length) + (lane < messages % numbers.length ? 1 : 0);
      return this.#send(phone, count);
    });
    this.done = Promise.all(lanes).then(() => {});
    this.done.catch(() => {}); // whoever awaits it hears of it
  }

  /** How many of these messages have arrived. */
  arrived(): number {
    const { platform, numbers } = this.#scene;
    for (const number of numbers) {
      // inboxes only grow, and this runs at every arrival
      const { inbox } = platform.phone(number);
      const seen = this.#seen.get(number) ?? 0;
      for (let index = seen; index < inbox.length; index++)
        if (inbox[index]?.text.startsWith(this.#name)) this.#arrived += 1;
      this.#seen.set(number, inbox.length);
    }
    return this.#arrived;
  }

  /** Lets so many more be under way from the next arrival on: they are submitted at once. */
  hurry(more: number): void {
    this.#backlog += more;
  }

  /** The messages of a phone, in the order of their first arrival. */
  inboxOf(phone: string): { id: string; text: string; arrivals: number }[] {
    return this.#scene.platform.phone(phone).inbox.filter(({ text }) => text.startsWith(this.#name));
  }

  async #send(phone: string, count: number): Promise<void> {
    const { platform } = this.#scene;
    for (let index = 0; index < count; index++) {
      while (this.accepted.length - this.arrived() >= this.#backlog)
        await platform.until(() => this.accepted.length - this.arrived() < this.#backlog, timeoutMs);
      const text = `${this.#name} ${phone} ${index}`;
      const kind = index % fileEvery === fileEvery - 1 ? "file" : "text";
      const { id } = await submit(
        this.#scene,
        { kind, phone, text },
        {
          first: this.accepted.length,
          onRepeat: () => {
            this.repeats += 1;
          },
        },
      );
      this.accepted.push({ id, phone, text });
    }
  }
}
