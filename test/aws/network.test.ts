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

const propertiesOf = ({ list }: Stage, type: string) => list(type).map(([, { Properties }]) => Properties);

const ingress = (stage: Stage): string[] =>
  propertiesOf(stage, "EC2::SecurityGroupIngress")
    .map(({ SourceSecurityGroupId: from, GroupId: to, FromPort, ToPort }) =>
      [groupName(from), groupName(to), `${FromPort}-${ToPort}`].join(" "),
    )
    .toSorted();

/** Allowed source, target and port, from rules within a group and separate rules. */
const egress = (stage: Stage): string[] =>
  [
    ...stage
      .list("EC2::SecurityGroup")
      .flatMap(([GroupId, { Properties }]) =>
        (Properties.SecurityGroupEgress ?? []).map((rule: object) => ({ GroupId, ...rule })),
      ),
    ...propertiesOf(stage, "EC2::SecurityGroupEgress"),
  ]
    .map(({ GroupId, CidrIp, CidrIpv6, DestinationSecurityGroupId, IpProtocol, FromPort, ToPort }) =>
      [
        groupName(GroupId),
        CidrIp ?? CidrIpv6 ?? groupName(DestinationSecurityGroupId),
        `${IpProtocol} ${FromPort}-${ToPort}`,
      ].join(" "),
    )
    .toSorted();

const anywhere = ["0.0.0.0/0", "::/0"];
const leaves = (from: string, port: number, places = anywhere) =>
  places.map((to) => `${from} ${to} tcp ${port}-${port}`);
const toDatabase = (port: number, places: string[]) =>
  ["Functions", "Messenger"].flatMap((from) => leaves(from, port, places));

/** What leaves every stage; the database is reached in another way when it was there already. */
const always = [
  ...leaves("Functions", 8080, ["Messenger"]),
  ...[...leaves("Functions", 443), ...leaves("Messenger", 443), ...leaves("Messenger", 80)],
];
/** With how CloudFormation expresses that no outgoing traffic is allowed. */
const ofOwnDatabase = [...toDatabase(5433, ["Database"]), "Database 255.255.255.255/32 icmp 252-86"];

const existingDatabase = { ...(examples.database[2] as object), port: 6432 };
const upstream = {
  legacyAuthUrl: "http://legacy.city.example:8088/login",
  employeeSystemUrl: "https://a.example",
};

test.each([
  ["functions and the messenger need in a new network, and none of the database", own, ofOwnDatabase],
  ["they need in a new network with NAT", withNat, ofOwnDatabase],
  ["they need in an existing network", inExisting, ofOwnDatabase],
  [
    "they need with an existing database, at any address by its port",
    synthesizeWith({ database: existingDatabase }),
    toDatabase(6432, anywhere),
  ],
  [
    "they need with an existing database whose security group is configured",
    synthesizeWith({ database: { ...existingDatabase, securityGroupId: "sg-0123456789abcdef0" } }),
    toDatabase(6432, ['"sg-0123456789abcdef0"']),
  ],
  [
    "they need with a legacy system at another port than 443",
    synthesizeWith({ upstream }),
    [...ofOwnDatabase, ...leaves("Functions", 8088)],
  ],
])("security groups allow exactly the outgoing traffic that %s", (_, stage, more) =>
  expect(egress(stage)).toEqual([...always, ...more].toSorted()),
);

describe.each([
  {
    ...{ name: "a new network", stage: own, range: ["10.40.0.0/20"] },
    ...{ natGateways: 0, egressOnly: 1, publicAddress: "ENABLED" },
  },
  {
    ...{ name: "a new network of production with NAT", stage: withNat, range: ["172.20.16.0/20"] },
    ...{ natGateways: 2, egressOnly: 1, publicAddress: "DISABLED" },
  },
  {
    ...{ name: "an existing network, which is used unchanged", stage: inExisting, range: [] },
    ...{ natGateways: 0, egressOnly: 0, publicAddress: "DISABLED" },
  },
])("in $name", ({ stage, range, natGateways, egressOnly, publicAddress }) => {
  const all = (type: string) => propertiesOf(stage, type);
  const functions = all("Lambda::Function");
  const inside = functions.filter(({ VpcConfig }) => VpcConfig);

  test("the range, the gateways and the addresses are those of the configuration", () => {
    expect(all("EC2::VPC").map(({ CidrBlock }) => CidrBlock)).toEqual(range);
    expect(all("EC2::NatGateway")).toHaveLength(natGateways);
    expect(all("EC2::EgressOnlyInternetGateway")).toHaveLength(egressOnly);
    const [service] = all("ECS::Service");
    expect(service?.NetworkConfiguration.AwsvpcConfiguration.AssignPublicIp).toBe(publicAddress);
    expect(inside.length).toBeGreaterThan(5);
    for (const { VpcConfig } of inside)
      expect(VpcConfig.Ipv6AllowedForDualStack ?? false).toBe(egressOnly > 0);
    for (const { MapPublicIpOnLaunch } of all("EC2::Subnet"))
      expect(MapPublicIpOnLaunch ?? false).toBe(false);
  });

  test("rejected traffic of a new network is logged, and its default security group allows nothing", () => {
    expect(all("EC2::FlowLog").map(({ TrafficType }) => TrafficType)).toEqual(range.map(() => "REJECT"));
    const restricted = stage.all.filter(([, { Type }]) => Type === "Custom::VpcRestrictDefaultSG");
    expect(restricted).toHaveLength(range.length);
  });

  test("a security group admits only traffic from another group, on one port", () => {
    expect(ingress(stage)).toEqual([
      "Functions Database 5433-5433",
      "Functions Messenger 8080-8080",
      "Messenger Database 5433-5433",
    ]);
    for (const { SecurityGroupIngress = [] } of all("EC2::SecurityGroup"))
      expect(SecurityGroupIngress).toEqual([]);
  });

  test("only functions that need the database, the messenger or a legacy system are in the network", () => {
    const needing = functions.filter(({ Environment }) =>
      Object.keys(Environment?.Variables ?? {}).some((name) =>
        /^(DATABASE_SECRET_ID|[A-Z_]+_URL)$/.test(name),
      ),
    );
    // the event tells the rotation which database to connect to
    expect(inside.filter(({ Role }) => !JSON.stringify(Role).includes("rotate"))).toEqual(needing);
  });
});
