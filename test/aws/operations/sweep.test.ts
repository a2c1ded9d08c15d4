import { beforeAll, expect, test } from "vitest";
import { metricsOf } from "../../../infra/aws/operations/function-metrics.ts";
import { useOwnCity, withCityDatabase } from "../../steps/city/own-city.ts";
import { partnersOf } from "../../steps/residents/partners.ts";
import { insertSeries } from "../../steps/residents/resident-series.ts";
import { composeWith } from "../composed-stage.ts";
import { readTemplate } from "../template.ts";
import { matches } from "./filter-pattern.ts";

const own = useOwnCity();
const { addPartner, post } = partnersOf(own);

/** Numbers of the sweep, of which the first thousand are residents'. */
const swept = 2_000;
const minutes = 10;
const numberOf = (place: number) => `99${String(place).padStart(14, "0")}`;

beforeAll(() => withCityDatabase(own)(async (sql) => void (await insertSeries(sql, 0, 1_000))));

const alarm = readTemplate(composeWith({ stage: "test" }).operations)
  .all("CloudWatch::Alarm")
  .find(({ AlarmName }) => AlarmName === "municipal-test-more-read-than-agreed");

/** Whether the log raises the alarm, by its definition: a sum of one period, which CloudWatch computes every minute. */
const rings = (fn: string) => {
  const figure = metricsOf(fn).find(({ name }) => name === alarm?.MetricName);
  expect(alarm).toMatchObject({
    ...{ Statistic: "Sum", EvaluationPeriods: 1, ComparisonOperator: "GreaterThanOrEqualToThreshold" },
  });
  expect([alarm?.Period >= 60 * minutes, figure?.value]).toEqual([true, "1"]);
  const lines = own.logged().filter((line) => matches(figure?.pattern ?? "", line));
  return lines.length >= alarm?.Threshold;
};

/** Of ten rows, beyond the first hundred. */
const deepPage = (place: number) => ({ page_size: 10, page_number: 11 + (place % 90) });

/** One of the reads of a sweep, of which each looks up this many residents. */
type Sweep = readonly [
  name: string,
  fn: string,
  lookUps: number,
  path: string,
  body: (place: number) => object,
];

const sweeps: readonly Sweep[] = [
  ["searches by number", "resident/search", 1, "/search", (place) => ({ p_nik: numberOf(place % 1_000) })],
  [
    "matches",
    "resident/verify",
    1,
    "/verify",
    (place) => ({ p_nik: numberOf(place % 1_000), p_nama_ibu: "I" }),
  ],
  ["pages of the list", "resident/list", 10, "", deepPage],
  [
    "pages of a search",
    "resident/search",
    10,
    "/search",
    (place) => ({ ...deepPage(place), p_nama: "siti" }),
  ],
];

test.each(sweeps)(
  "a sweep of 2,000 residents by %s within ten minutes raises the alarm before these are over",
  async (_, fn, lookUps, path, body) => {
    own.lines.length = 0;
    const { name, key } = await addPartner();
    let place = 0;
    const read = async () => {
      const { status } = await post(key, path, body(place++));
      expect(status).toBe(200);
    };
    while (!rings(fn)) {
      await Promise.all(Array.from({ length: 10 }, read));
      // CloudWatch computes it a minute later at most
      expect((place * lookUps * minutes) / swept).toBeLessThan(minutes - 1);
    }
    const [line] = own.logged().filter(({ message }) => message === "more read than agreed");
    expect(line).toMatchObject({
      level: "warn",
      partner_id: name,
      key_id: expect.stringMatching(/^key_/),
      agreed: 750,
    });
    expect(line?.look_ups).toBeGreaterThan(750);
    expect(JSON.stringify(line)).not.toMatch(/\d{15}|SITI/);
  },
);
