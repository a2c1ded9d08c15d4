// Shifts the clock of a Node process, as if somebody set it: each SIGUSR2 sets the next of these offsets.
const hourMs = 3_600_000;
const offsetsMs = [hourMs, -hourMs, 0];
let turn = -1;

const Real = Date;
const now = () => Real.now() + (offsetsMs[turn % offsetsMs.length] ?? 0);

globalThis.Date = new Proxy(Real, {
  construct: (target, args: unknown[], self) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, self === Date ? target : self),
  apply: () => new Real(now()).toString(),
  get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
});
Real.prototype.constructor = Date;

process.on("SIGUSR2", () => {
  turn += 1;
});
