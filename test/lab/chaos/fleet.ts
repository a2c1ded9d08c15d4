import { type MessengerProcess, startMessengerProcess } from "../../../infra/local/messenger/process.ts";

const clock = new URL("./clock.ts", import.meta.url).href;
const keptLines = 2_000;

type Variables = Readonly<Record<string, string>>;

interface Task extends MessengerProcess {
  /** Lowest number that no other task had when this one started. */
  readonly seat: number;
}

/** The messenger's tasks as processes. A killed one is restarted, as a container platform does. */
export class Fleet {
  readonly #variables: Variables;
  readonly #variablesBySeat: readonly Variables[];
  readonly #tasks: Task[] = [];
  /** What the tasks logged last. */
  readonly lines: string[] = [];

  constructor(variables: Variables, variablesBySeat: readonly Variables[] = []) {
    this.#variables = variables;
    this.#variablesBySeat = variablesBySeat;
  }

  /** Where the tasks that are up take messages. */
  urls(): string[] {
    return this.#tasks.map(({ url }) => url);
  }

  pids(): number[] {
    return this.#tasks.map(({ pid }) => pid);
  }

  /** The seats of the tasks that are up, in the order of `urls`. */
  seats(): number[] {
    return this.#tasks.map(({ seat }) => seat);
  }

  async #start(): Promise<void> {
    const taken = this.seats();
    const seat = [...taken, taken.length].findIndex((_, candidate) => !taken.includes(candidate));
    const own = this.#variablesBySeat[seat];
    const variables = { NODE_OPTIONS: `--import=${clock}`, ...this.#variables, ...own };
    const task = await startMessengerProcess(variables, (line) => {
      if (this.lines.push(line) > keptLines) this.lines.shift();
    });
    this.#tasks.push({ ...task, seat });
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
