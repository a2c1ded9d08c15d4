import { expect, test } from "vitest";
import { composeWith } from "./composed-stage.ts";
import { readTemplate } from "./template.ts";

const certificate =
  "arn:aws:acm:ap-southeast-3:111122223333:certificate/0f1e2d3c-4b5a-4978-8695-a4b3c2d1e0f9";
const domain = {
  integrationHost: "services.city.example",
  messagingHost: "messages.city.example",
  certificateArn: certificate,
};
const [services, messages] = ["https://services.city.example", "https://messages.city.example"];

/** A value with its references to other resources as `<…>`, without the function that joins them. */
const shown = (value: unknown): string =>
  typeof value === "string"
    ? value
    : JSON.stringify(value)
        .replaceAll(/\{"(?:Ref|Fn::ImportValue)":"[^"]*"\}/g, '"<…>"')
        .replace(/^.*?\["",\[(.*)\]\].*$/, (_, parts) => JSON.parse(`[${parts}]`).join(""));

/** Where the two APIs of a stage are. */
const placesOf = (context: Record<string, unknown>) =>
  composeWith({ stage: "test", ...context }).apis.map((stack) => {
    const { all, only, template } = readTemplate(stack);
    const { BaseUrl, DomainTarget, ...others } = template.findOutputs("*");
    const responses = all("ApiGateway::GatewayResponse");
    const unknown = responses.find(({ ResponseType }) => ResponseType === "MISSING_AUTHENTICATION_TOKEN");
    const hint = shown(unknown?.ResponseTemplates["application/json"]);
    return {
      hosts: all("ApiGateway::DomainName").map((one) => [
        one.DomainName,
        one.SecurityPolicy,
        ...one.EndpointConfiguration.Types,
        one.RegionalCertificateArn,
      ]),
      paths: all("ApiGateway::BasePathMapping").map(({ BasePath }) => BasePath),
      isDefaultClosed: only("ApiGateway::RestApi").DisableExecuteApiEndpoint,
      baseUrl: shown(BaseUrl?.Value),
      hasTarget: DomainTarget !== undefined,
      // what other stacks read of it, such as its address for the documentation, are outputs too
      others: Object.keys(others).filter((output) => !/^(Exports|Publish)Output/.test(output)),
      otherApi: /is at (.*?)\.(?:"|$| )/.exec(hint)?.[1],
    };
  });

const atHost = { isDefaultClosed: true, hasTarget: true };
const atDefault = { hosts: [], paths: [], isDefaultClosed: false, hasTarget: false };
const hostOf = (name: string) => [[name, "TLS_1_2", "REGIONAL", certificate]];
const defaultUrl = "https://<…>.execute-api.<…>.<…>/test";

test.each([
  ["the city's hosts", { domain }, "api"],
  ["the city's hosts and a path", { domain: { ...domain, basePath: "layanan" } }, "layanan"],
])("with %s, the APIs are there alone, each 404 names the address of the other", (_, context, path) =>
  expect(placesOf(context)).toEqual([
    {
      ...{ ...atHost, hosts: hostOf(domain.integrationHost), paths: [path] },
      ...{ baseUrl: `${services}/${path}`, otherApi: messages, others: ["PartnerOperatorPolicy"] },
    },
    {
      ...{ ...atHost, hosts: hostOf(domain.messagingHost), paths: [undefined] },
      ...{ baseUrl: messages, otherApi: `${services}/${path}`, others: [] },
    },
  ]),
);

test("without hosts, an API has its default address; a 404 names the other's where it is known before the deployment", () =>
  expect(placesOf({})).toEqual([
    { ...atDefault, baseUrl: defaultUrl, otherApi: defaultUrl, others: ["PartnerOperatorPolicy"] },
    { ...atDefault, baseUrl: defaultUrl, otherApi: "the integration API's address", others: [] },
  ]));
