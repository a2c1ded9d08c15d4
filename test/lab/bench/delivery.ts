import type { City } from "../../../infra/local/city.ts";
import { messagingClient } from "../../steps/messaging.ts";
import { withCity } from "../../steps/temporary-city.ts";
import { measureOf, printTable, type Result } from "./result.ts";
import { percentile, timed } from "./timing.ts";

const recipients = Array.from({ length: 20 }, (_, i) => `62813000001${String(i).padStart(2, "0")}`);
const callersAtOnce = 8;

const openSender = async ({ messagingBaseUrl, basic, messenger }: City) => {
  const platform = messenger?.platform;
  if (!platform) throw new Error("the city has no simulated platform");
  const client = messagingClient(messagingBaseUrl, basic);
  const phones = recipients.map((number) => platform.register(number));
  let sent = 0;
  const send = async () => {
    const phone = phones[sent % phones.length];
    const message = `Pesan ${sent++}`;
    const delivered = platform.until(() => phone?.inbox.some(({ text }) => text === message) ?? false);
    const answered = client.sendMessage({ phone: phone?.number, message });
    const [{ status }] = await Promise.all([answered, delivered]);
    if (status !== 200) throw new Error(`the messaging API answered ${status}`);
  };
  await platform.until(() => platform.sockets.loggedIn === 1);
  /** Sends so many messages. @returns the milliseconds of each, in ascending order. */
  return async (count: number, callers: number): Promise<number[]> => {
    const times: number[] = [];
    let left = count;
    const caller = async () => {
      while (left-- > 0) times.push(await timed(send));
    };
    await Promise.all(Array.from({ length: callers }, caller));
    return times.toSorted((a, b) => a - b);
  };
};

/**
 * Measures the time from a request to the messaging API until the simulated phone shows the text: through gateway, function,
 * messenger and platform. One message after the other, and many callers at once; sending has no pace here.
 *
 * @param options `sends`: messages of each kind.
 */
export const benchDelivery = async ({ sends }: { sends: number }): Promise<Result> => {
  const rows = await withCity(50, async (city, _, signal) => {
    const run = await openSender(city);
    // not counted: code and Signal sessions that are still cold
    await run(recipients.length, 1);
    const measured = [];
    for (const callers of [1, callersAtOnce]) {
      signal.throwIfAborted();
      const times = await run(sends, callers);
      measured.push({
        callers: `${callers}`,
        messages: times.length,
        "p50 ms": percentile(times, 0.5),
        "p99 ms": percentile(times, 0.99),
        spread: measureOf(times),
      });
    }
    return measured;
  });
  printTable(rows);
  return { bench: "delivery", figures: { sends, recipients: recipients.length, rows } };
};
