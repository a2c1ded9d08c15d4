import { defineConfig } from "vitest/config";

/** The tests of the modules that Stryker mutates, which need no city. */
export default defineConfig({
  test: {
    include: ["test/lib/lazy.test.ts", "test/messenger/{send/pacing,channels/whatsapp/reconnection}.test.ts"],
  },
});
