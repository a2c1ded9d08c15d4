import { expect, test } from "vitest";
import { examples } from "../../infra/aws/config.ts";
import { upstreamUrls } from "../../infra/aws/stage-names.ts";
import { memoryFlags } from "../../infra/local/messenger/process.ts";
import { synthesizeWith } from "./composed-stage.ts";

const stage = synthesizeWith();
const only = (type: string, from = stage) => {
  const [found, ...more] = from.list(type);
  if (!found || more.length > 0) throw new Error(`${from.list(type).length} of ${type}`);
  return found[1].Properties;
};
const definition = only("ECS::TaskDefinition");
const [container] = definition.ContainerDefinitions;
const service = only("ECS::Service");
const address = only("ServiceDiscovery::Service");

test.each([
  ["two tasks in two zones run in production", { stage: "prod" }, 2, 150, "ENABLED"],
  ["one task runs in any other stage", { stage: "dev" }, 1, 200, "DISABLED"],
  ["as many tasks run as the context says", { stage: "dev", messengerTasks: "3" }, 3, 134, "ENABLED"],
])("%s; a deployment starts a new one before it stops an old one", (_, context, count, most, rebalancing) => {
  const { DesiredCount, DeploymentConfiguration, AvailabilityZoneRebalancing, NetworkConfiguration } = only(
    "ECS::Service",
    synthesizeWith(context),
  );
  expect([DesiredCount, AvailabilityZoneRebalancing]).toEqual([count, rebalancing]);
  expect(NetworkConfiguration.AwsvpcConfiguration.Subnets).toHaveLength(2);
  expect(DeploymentConfiguration).toEqual({
    MinimumHealthyPercent: 100,
    MaximumPercent: most,
    DeploymentCircuitBreaker: { Enable: true, Rollback: true },
  });
  // ECS rounds down: one task more than there should be
  expect(Math.floor((count * most) / 100)).toBe(count + 1);
});

test("no metric of the cluster costs extra", () =>
  expect(only("ECS::Cluster").ClusterSettings).toEqual([{ Name: "containerInsights", Value: "disabled" }]));

test("the console is reached through the task's agent, without logging of the session", () => {
  expect(service.EnableExecuteCommand).toBe(true);
  expect(only("ECS::Cluster").Configuration.ExecuteCommandConfiguration).toEqual({ Logging: "NONE" });
});

test("the container has the smallest size, does not run as root, and has a read-only file system", () => {
  expect([definition.Cpu, definition.Memory, definition.RuntimePlatform.CpuArchitecture]).toEqual([
    ...["256", "512", "ARM64"],
  ]);
  expect([container.User, container.ReadonlyRootFilesystem]).toEqual(["1000:1000", true]);
  // only where the agent of the console's way writes
  const folders = container.MountPoints.map(({ ContainerPath }: { ContainerPath: string }) => ContainerPath);
  expect(folders).toEqual(["/managed-agents", "/var/lib/amazon/ssm", "/var/log/amazon/ssm"]);
  expect(memoryFlags.join(" ")).toContain("--max-old-space-size=96");
});

test("functions know it by its DNS name, whose time to live ends before the task stops listening", () => {
  const zone = only("ServiceDiscovery::PrivateDnsNamespace");
  const { hostname, port } = new URL(upstreamUrls(stage.config).MESSENGER_URL);
  expect(hostname).toBe(`${address.Name}.${zone.Name}`);
  expect(Number(port)).toBe(container.PortMappings[0].ContainerPort);
  const [{ TTL, Type }] = address.DnsConfig.DnsRecords;
  expect(Type).toBe("A");
  const variables = new Map(
    container.Environment.map(({ Name, Value }: { Name: string; Value: string }) => [Name, Value]),
  );
  const linger = Number(variables.get("MESSENGER_LINGER_SECONDS"));
  expect(linger).toBeGreaterThan(TTL);
  // the last requested file may take 25 s
  expect(container.StopTimeout).toBeGreaterThan(linger + 25);
  for (const [, { Properties }] of stage.list("Lambda::Function")) {
    const told = Properties.Environment?.Variables?.MESSENGER_URL;
    if (told !== undefined) expect(told).toBe(`http://${hostname}:${port}`);
  }
});

test("its variables contain only names of secrets, and it has its own log group", () => {
  for (const { Name, Value } of container.Environment)
    if (Name.endsWith("_SECRET_ID")) expect(Value).toMatch(/^municipal\/dev\//);
  expect(container.Secrets).toBeUndefined();
  expect(container.LogConfiguration.Options["awslogs-group"].Ref).toMatch(/^MessengerLogs/);
});

test("a connection whose other end has vanished closes after 100 s instead of 15 min", () =>
  expect(container.SystemControls).toEqual([{ Namespace: "net.ipv4.tcp_retries2", Value: "8" }]));

const variablesOf = (from: typeof stage): Record<string, string> => {
  const [{ Environment }] = only("ECS::TaskDefinition", from).ContainerDefinitions;
  return Object.fromEntries(
    Environment.map(({ Name, Value }: { Name: string; Value: string }) => [Name, Value]),
  );
};

test("it has two logins to the database: its own, and the one with which its console only reads", () =>
  expect(variablesOf(stage)).toMatchObject({
    DATABASE_SECRET_ID: "municipal/dev/database/messenger",
    CONSOLE_DATABASE_SECRET_ID: "municipal/dev/database/console",
  }));

test("the version of WhatsApp Web is the configured one, and by default the library's", () => {
  const [webVersion] = examples.webVersion;
  expect(variablesOf(synthesizeWith({ webVersion }))).toMatchObject({ PLATFORM_WEB_VERSION: webVersion });
  expect(variablesOf(stage)).not.toHaveProperty("PLATFORM_WEB_VERSION");
});

test("country code and time zone are the configured ones, also those of schedules, and by default those of Jakarta", () => {
  const other = synthesizeWith({ countryCode: "60", timeZone: "Asia/Kuala_Lumpur" });
  expect(variablesOf(other)).toMatchObject({ COUNTRY_CODE: "60", TIME_ZONE: "Asia/Kuala_Lumpur" });
  const zones = other
    .list("Scheduler::Schedule")
    .map(([, { Properties }]) => Properties.ScheduleExpressionTimezone);
  expect(new Set(zones.filter((zone) => zone !== "Etc/UTC"))).toEqual(new Set(["Asia/Kuala_Lumpur"]));
  expect(variablesOf(stage)).not.toHaveProperty("COUNTRY_CODE");
  expect(variablesOf(stage)).not.toHaveProperty("TIME_ZONE");
});

test("operators of the console log in at the given issuer, and without one by the passwords of the secret", () => {
  const [consoleLogin] = examples.consoleLogin as [Record<string, string>];
  expect(variablesOf(synthesizeWith({ consoleLogin }))).toMatchObject({
    CONSOLE_ISSUER_URL: consoleLogin.issuer,
    CONSOLE_CLIENT_ID: consoleLogin.clientId,
    CONSOLE_GROUPS_CLAIM: "cognito:groups",
    CONSOLE_SECRET_ID: "municipal/dev/messenger-console",
  });
  expect(variablesOf(stage)).not.toHaveProperty("CONSOLE_ISSUER_URL");
  expect(variablesOf(stage)).toMatchObject({
    PEPPER_SECRET_ID: "municipal/dev/opt-out-pepper",
    MESSENGER_CHANNELS_SECRET_ID: "municipal/dev/messenger-channels",
  });
});

test("an existing image in a registry replaces the built one", () => {
  const [reference] = examples.messagingImage;
  const given = synthesizeWith({ messagingImage: reference });
  const [{ Image }] = only("ECS::TaskDefinition", given).ContainerDefinitions;
  expect(JSON.stringify(Image)).toContain("municipal-messenger:1.0.0");
  expect(JSON.stringify(given.list("IAM::Policy"))).toContain(":repository/municipal-messenger");
});
