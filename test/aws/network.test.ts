import { describe, expect, test } from "vitest";
import { examples } from "../../infra/aws/config.ts";
import { synthesizeWith } from "./composed-stage.ts";

const [, byNat, existing] = examples.network;
const own = synthesizeWith();
const withNat = synthesizeWith({ network: byNat, stage: "prod" });
const inExisting = synthesizeWith({ network: existing });

type Stage = ReturnType<typeof synthesizeWith>;

/** The groups of the template, by what they are around: `Functions`, `Messenger` or `Database`. */
const groupName = (value: unknown): string =>
  /(?<=Network)(?:Functions|Messenger)|Database(?=Group)/.exec(JSON.stringify(value))?.[0] ??
  JSON.stringify(value);

const ingress = ({ list }: Stage) =>
  list("EC2::SecurityGroupIngress").map(({ 1: { Properties } }) =>
    [
      groupName(Properties.SourceSecurityGroupId),
      groupName(Properties.GroupId),
      `${Properties.FromPort}-${Properties.ToPort}`,
    ].join(" "),
  );

type Rule = Readonly<Record<string, string>>;

/** Allowed source, target and port, from rules within a group and separate rules. */
const egress = ({ list }: Stage): string[] => {
  const rules: [string, Rule][] = [
    ...list("EC2::SecurityGroup").flatMap(([id, { Properties }]) =>
      (Properties.SecurityGroupEgress ?? []).map((rule: Rule): [string, Rule] => [id, rule]),
    ),
    ...list("EC2::SecurityGroupEgress").map(({ 1: { Properties } }): [string, Rule] => [
      Properties.GroupId,
      Properties,
    ]),
  ];
  return rules
    .map(([from, { CidrIp, CidrIpv6, DestinationSecurityGroupId, IpProtocol, FromPort, ToPort }]) =>
      [
        groupName(from),
        CidrIp ?? CidrIpv6 ?? groupName(DestinationSecurityGroupId),
        `${IpProtocol} ${FromPort}-${ToPort}`,
      ].join(" "),
    )
    .toSorted();
};

const toAnywhere = (from: string, port: number) =>
  ["0.0.0.0/0", "::/0"].map((to) => `${from} ${to} tcp ${port}-${port}`);

/** What leaves every stage; the database is reached in another way when it was there already. */
const always = [
  "Functions Messenger tcp 8080-8080",
  ...toAnywhere("Functions", 443),
  ...toAnywhere("Messenger", 443),
  ...toAnywhere("Messenger", 80),
];

test("a new network has the range of the configuration", () => {
  const ranges = [own, withNat].map(({ list }) =>
    list("EC2::VPC").map(([, vpc]) => vpc.Properties.CidrBlock),
  );
  expect(ranges).toEqual([["10.40.0.0/20"], ["172.20.16.0/20"]]);
});

describe.each([
  ["a new network", own],
  ["a new network with NAT", withNat],
  ["an existing network", inExisting],
])("in %s", (_, stage) => {
  test("a security group admits only traffic from another group, on one port", () => {
    expect(ingress(stage).toSorted()).toEqual([
      "Functions Database 5433-5433",
      "Functions Messenger 8080-8080",
      "Messenger Database 5433-5433",
    ]);
    for (const [, { Properties }] of stage.list("EC2::SecurityGroup"))
      expect(Properties.SecurityGroupIngress ?? []).toEqual([]);
  });

  test("security groups allow exactly the outgoing traffic that functions and the messenger need, and none of the database", () =>
    expect(egress(stage)).toEqual(
      [
        ...always,
        "Functions Database tcp 5433-5433",
        "Messenger Database tcp 5433-5433",
        // how CloudFormation expresses that no outgoing traffic is allowed
        "Database 255.255.255.255/32 icmp 252-86",
      ].toSorted(),
    ));

  test("only functions that need the database, the messenger or a legacy system are in the network", () => {
    const needing = stage.list("Lambda::Function").filter(([, { Properties }]) => {
      const names = Object.keys(Properties.Environment?.Variables ?? {});
      return names.some((name) => /^(DATABASE_SECRET_ID|[A-Z_]+_URL)$/.test(name));
    });
    const inside = stage.list("Lambda::Function").filter(([, { Properties }]) => Properties.VpcConfig);
    // the event tells the rotation which database to connect to
    expect(inside.map(([id]) => id).filter((id) => !id.includes("rotate"))).toEqual(
      needing.map(([id]) => id),
    );
  });
});

test("public subnets assign no public addresses", () => {
  const given = own.list("EC2::Subnet").map(([, { Properties }]) => Properties.MapPublicIpOnLaunch ?? false);
  expect(new Set(given)).toEqual(new Set([false]));
});

test("without NAT, functions use IPv6 and the messenger has a public address", () => {
  expect(own.list("EC2::NatGateway")).toEqual([]);
  expect(own.list("EC2::EgressOnlyInternetGateway")).toHaveLength(1);
  for (const [, { Properties }] of own.list("Lambda::Function"))
    if (Properties.VpcConfig) expect(Properties.VpcConfig.Ipv6AllowedForDualStack).toBe(true);
  const [, service] = own.list("ECS::Service")[0] ?? [];
  expect(service?.Properties.NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp).toBe("ENABLED");
});

test("with NAT, production has a gateway in each zone, and no task has a public address", () => {
  expect(withNat.list("EC2::NatGateway")).toHaveLength(2);
  const [, service] = withNat.list("ECS::Service")[0] ?? [];
  expect(service?.Properties.NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp).toBe("DISABLED");
});

test("rejected traffic is logged, and the default security group allows nothing", () => {
  const [, log] = own.list("EC2::FlowLog")[0] ?? [];
  expect(log?.Properties.TrafficType).toBe("REJECT");
  expect(own.all.filter(([, { Type }]) => Type === "Custom::VpcRestrictDefaultSG")).toHaveLength(1);
});

test("an existing network is used unchanged", () => {
  expect(inExisting.list("EC2::VPC")).toEqual([]);
  for (const [, { Properties }] of inExisting.list("Lambda::Function"))
    if (Properties.VpcConfig) expect(Properties.VpcConfig.Ipv6AllowedForDualStack ?? false).toBe(false);
});

test.each([
  ["allows an existing database at any address by its port", {}, ["0.0.0.0/0", "::/0"]],
  [
    "allows an existing database only in its security group, if it is configured",
    { securityGroupId: "sg-0123456789abcdef0" },
    ['"sg-0123456789abcdef0"'],
  ],
])("%s", (_, more, places) => {
  const database = { ...(examples.database[2] as object), port: 6432, ...more };
  const toDatabase = ["Functions", "Messenger"].flatMap((from) =>
    places.map((to) => `${from} ${to} tcp 6432-6432`),
  );
  expect(egress(synthesizeWith({ database }))).toEqual([...always, ...toDatabase].toSorted());
});

test("a legacy system can have another port than 443", () => {
  const upstream = {
    legacyAuthUrl: "http://legacy.city.example:8088/login",
    employeeSystemUrl: "https://a.example",
  };
  const { list } = synthesizeWith({ upstream });
  const [, group] = list("EC2::SecurityGroup").find(([id]) => id.includes("NetworkFunctions")) ?? [];
  const ports = group?.Properties.SecurityGroupEgress.map(({ FromPort }: { FromPort: number }) => FromPort);
  expect(ports).toEqual(expect.arrayContaining([443, 8088]));
});
