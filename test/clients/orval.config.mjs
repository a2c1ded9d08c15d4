const output = (name, client) => ({
  input: `./${name}.json`,
  output: {
    target: `./${name}${client === "zod" ? ".zod" : ""}.ts`,
    client,
    mode: "single",
    baseUrl: { getBaseUrlFromSpecification: true },
  },
});

export default {
  integration: output("integration", "fetch"),
  integrationSchemas: output("integration", "zod"),
  messaging: output("messaging", "fetch"),
  messagingSchemas: output("messaging", "zod"),
};
