import { type MessengerProcess, startMessengerProcess } from "../../infra/local/messenger/process.ts";

const clock = new URL("./clock.ts", import.meta.url).href;
const keptLines = 2_000;

/** The messenger's tasks as processes. A killed one is restarted, as a container platform does. */
export class Fleet {
  readonly #variables: Readonly<Record<string, string>>;
  readonly #tasks: MessengerProcess[] = [];
  /** What the tasks logged last. */
  readonly lines: string[] = [];

  constructor(variables: Readonly<Record<string, string>>) {
    this.#variables = variables;
  }

  /** Where the tasks that are up take messages. */
  urls(): string[] {
    return this.#tasks.map(({ url }) => url);
  }

  pids(): number[] {
    return this.#tasks.map(({ pid }) => pid);
  }

  async #start(): Promise<void> {
    const variables = { NODE_OPTIONS: `--import=${clock}`, ...this.#variables };
    const task = await startMessengerProcess(variables, (line) => {
      if (this.lines.push(line) > keptLines) this.lines.shift();
    });
    this.#tasks.push(task);
  }

  /** Starts tasks, or stops them in order, until there are so many. */
  async grow(count: number): Promise<void> {
    while (this.#tasks.length < count) await this.#start();
    while (this.#tasks.length > count) await this.#tasks.pop()?.stop();
  }

  /** Kills one without a word. @returns what starts another in its place. */
  async crash(index: number): Promise<() => Promise<void>> {
    const [task] = this.#tasks.splice(index, 1);
    if (!task) throw new Error(`there is no task ${index}`);
    await task.kill();
    return () => this.#start();
  }

  /** Sets the clock of all tasks to the next offset of `clock.ts`. */
  setClock(): void {
    for (const { pid } of this.#tasks) process.kill(pid, "SIGUSR2");
  }

  /** The leading task, if there is one. */
  async findLeader(): Promise<number> {
    const leads = await Promise.all(
      this.urls().map(async (url) => {
        const response = await fetch(`${url}/health`).catch(() => undefined);
        const health = (await response?.json()) as { leader: boolean } | undefined;
        return health?.leader === true;
      }),
    );
    return leads.indexOf(true);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#tasks.splice(0).map((task) => task.stop()));
  }
}
