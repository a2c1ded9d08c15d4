/** Where a stage's APIs are, without a slash at the end. */
export interface Addresses {
  readonly integration: string;
  readonly messaging: string;
}

/** What stands in the built documents for the addresses of a stage that is not known yet. */
export const invented: Addresses = {
  integration: "https://services.city.example/api",
  messaging: "https://messages.city.example",
};

/** A built document with the addresses of a stage, wherever it names them. */
export const withAddresses = (document: string, { integration, messaging }: Addresses): string =>
  document.replaceAll(invented.integration, integration).replaceAll(invented.messaging, messaging);
