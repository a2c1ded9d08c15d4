import { expect, test } from "vitest";
import { composeWith } from "./composed-stage.ts";
import { readTemplate } from "./template.ts";

const domain = {
  integrationHost: "services.city.example",
  messagingHost: "messages.city.example",
  certificateArn: "arn:aws:acm:ap-southeast-3:111122223333:certificate/0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9",
};

const apisOf = (context: Record<string, unknown>) =>
  composeWith({ stage: "test", ...context }).apis.map((stack) => ({
    name: stack.api.name,
    ...readTemplate(stack),
  }));

const outputsOf = ({ template }: ReturnType<typeof readTemplate>) =>
  Object.fromEntries(Object.entries(template.findOutputs("*")).map(([name, { Value }]) => [name, Value]));

const [atOwnHosts, atOwnPath, atDefaultAddress] = [
  apisOf({ domain }),
  apisOf({ domain: { ...domain, basePath: "layanan" } }),
  apisOf({}),
];

test("the city's hosts are regional, require TLS 1.2, and replace the default endpoints", () => {
  for (const { only } of atOwnHosts) {
    expect(only("ApiGateway::DomainName")).toMatchObject({
      SecurityPolicy: "TLS_1_2",
      EndpointConfiguration: { Types: ["REGIONAL"] },
      RegionalCertificateArn: domain.certificateArn,
    });
    expect(only("ApiGateway::RestApi").DisableExecuteApiEndpoint).toBe(true);
  }
});

test.each([
  ["api", atOwnHosts],
  ["layanan", atOwnPath],
])("the integration API is under /%s of its host, and the messaging API at its host's root", (path, apis) => {
  const [integration, messaging] = apis;
  if (!integration || !messaging) return expect.fail();
  const placeOf = ({ only }: typeof integration) => [
    only("ApiGateway::DomainName").DomainName,
    only("ApiGateway::BasePathMapping").BasePath,
  ];
  expect([placeOf(integration), placeOf(messaging)]).toEqual([
    [domain.integrationHost, path],
    [domain.messagingHost, undefined],
  ]);
  expect([outputsOf(integration).BaseUrl, outputsOf(messaging).BaseUrl]).toEqual([
    `https://services.city.example/${path}`,
    "https://messages.city.example",
  ]);
  for (const api of [integration, messaging]) expect(outputsOf(api).DomainTarget).toBeDefined();
});

test("without custom hosts, an API outputs its default address with the stage's name", () => {
  for (const api of atDefaultAddress) {
    expect(api.all("ApiGateway::DomainName")).toEqual([]);
    expect(api.only("ApiGateway::RestApi").DisableExecuteApiEndpoint).toBe(false);
    const { BaseUrl, ...others } = outputsOf(api);
    expect(JSON.stringify(BaseUrl)).toMatch(/"https:\/\/",.*"\.execute-api\.".*"\/test"/);
    // what other stacks read of it, such as its address for the documentation, are outputs too
    const named = Object.keys(others).filter((output) => !/^(Exports|Publish)Output/.test(output));
    expect(named).toEqual(api.name === "integration" ? ["PartnerOperatorPolicy"] : []);
  }
});

test("a 404 names the address of the other API, where it is known before the stage is deployed", () => {
  const hintsOf = (apis: ReturnType<typeof apisOf>) =>
    apis.map(({ all }) => {
      const responses = all("ApiGateway::GatewayResponse");
      const unknown = responses.find(({ ResponseType }) => ResponseType === "MISSING_AUTHENTICATION_TOKEN");
      return JSON.stringify(unknown?.ResponseTemplates);
    });
  const [integration, messaging] = hintsOf(atOwnPath);
  expect(integration).toContain("is at https://messages.city.example.");
  expect(messaging).toContain("is at https://services.city.example/layanan.");
  const [atDefault, byDefault] = hintsOf(atDefaultAddress);
  expect(atDefault).toMatch(/is at https:\/\/",.*ImportValue.*\.execute-api\./);
  expect(byDefault).toContain("is at the integration API's address.");
});
