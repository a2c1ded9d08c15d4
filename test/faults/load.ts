import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { Accepted } from "#lib/messaging/submission.ts";
import type { Scene } from "./scene.ts";

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

const requestTimeoutMs = 5_000;
const repeatAfterMs = 50;
const timeoutMs = 120_000;

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
      const { id } = await this.#submit(phone, text);
      this.accepted.push({ id, phone, text });
    }
  }

  /** Retries at any running task with the same key. */
  async #submit(phone: string, text: string): Promise<Accepted> {
    const { fleet, token } = this.#scene;
    const body = JSON.stringify({ sender: "api:load", kind: "text", phone, text, idempotency_key: text });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    for (let attempt = 0; ; attempt++) {
      const urls = fleet.urls();
      const url = urls[(this.accepted.length + attempt) % urls.length];
      const signal = AbortSignal.timeout(requestTimeoutMs);
      const response =
        url &&
        (await fetch(`${url}/messages`, { method: "POST", headers, body, signal }).catch(() => undefined));
      const answer = response && (await response.text().catch(() => undefined));
      if (response && answer !== undefined) {
        if (response.status === 201) return Accepted.parse(JSON.parse(answer));
        // 409: the first request with this key may still be running
        if (response.status < 500 && response.status !== 409)
          throw new Error(`a message was refused with ${response.status}: ${answer}`);
      }
      this.repeats += 1;
      await setTimeout(repeatAfterMs);
    }
  }
}
