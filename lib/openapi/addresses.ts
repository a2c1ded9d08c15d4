/** Addresses of a stage's APIs, without a trailing slash. */
export interface Addresses {
  readonly integration: string;
  readonly messaging: string;
}

/** Placeholder addresses in the built documents. */
export const invented: Addresses = {
  integration: "https://services.city.example/api",
  messaging: "https://messages.city.example",
};

/** Replaces the placeholder addresses of a built document by those of a stage. */
export const withAddresses = (document: string, { integration, messaging }: Addresses): string =>
  document.replaceAll(invented.integration, integration).replaceAll(invented.messaging, messaging);
