import { CommandError, command } from "../../../infra/cli/command.ts";
import { Workshop } from "../../steps/workshop.ts";
import { findRelease, tryOnSchema } from "./compare.ts";

const about = `Run the contract tests of the release before, with its code, on the schema of this one.

While a deployment replaces one function after the other, and after a rollback, the old code runs on the new schema. The
release is the newest tag before this commit, such as v0.1.0. Its migrations must not have changed since; functions may.`;

const advice =
  'Add to the schema first, and remove in a later release: see "Add a migration" in the guide for contributors.';

export const run = command("lab -- release-check", about, (program, answer, print) => {
  program.option("--release <tag>", "another release than the one before").action(
    answer(async ({ release: given }) => {
      const release = given ?? findRelease();
      if (release === undefined)
        return { text: "There is no release before this commit: nothing to check.", json: { release: null } };
      print(`${release} on the migrations of this tree …`);
      const tree = Workshop.of(release);
      try {
        const wrongs = await tryOnSchema(tree, "lib/db");
        if (wrongs.length > 0)
          throw new CommandError(
            `${release} does not work on the new schema. ${advice}\n${wrongs.join("\n")}`,
          );
        return { text: `${release} works on the new schema.`, json: { release } };
      } finally {
        tree.remove();
      }
    }),
  );
});
