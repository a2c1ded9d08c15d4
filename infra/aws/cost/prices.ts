/**
 * AWS's list prices in US dollars, without free tiers and discounts.
 * @see https://calculator.aws
 */
export const source = { region: "us-east-1 (N. Virginia)", asOf: "2026-03" };

export const hoursPerMonth = 730;

/** Prices per unit named in the key; `Hour` and `Month` are per resource. */
export const prices = {
  auroraUnitHour: 0.12,
  auroraGbMonth: 0.1,
  auroraMillionReadsAndWrites: 0.2,
  /** db.t4g.micro with PostgreSQL in one zone; a standby in another zone costs the same again. */
  instanceHour: 0.016,
  instanceGbMonth: 0.115,
  fargateArmCpuHour: 0.03238,
  fargateArmGbHour: 0.00356,
  publicAddressHour: 0.005,
  natGatewayHour: 0.045,
  natGatewayGb: 0.045,
  secretMonth: 0.4,
  keyMonth: 1,
  alarmMetricMonth: 0.1,
  figureMonth: 0.3,
  dashboardMonth: 3,
  logGb: 0.5,
  firewallMonth: 5,
  firewallRuleMonth: 1,
  firewallMillion: 0.6,
  zoneMonth: 0.5,
  /** Objects that are added; storing a million of them costs a cent. */
  putThousand: 0.005,
  restMillion: 3.5,
  lambdaMillion: 0.2,
  lambdaArmGbSecond: 0.0000133334,
  trafficGb: 0.09,
} as const;
