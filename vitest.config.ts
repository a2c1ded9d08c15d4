import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/steps/global-setup.ts",
    // real processes, databases and sockets on a machine that may be busy: the report names what needed a second run
    retry: 1,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
});
