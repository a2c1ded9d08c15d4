import {
  GetSecretValueCommand,
  PutSecretValueCommand,
  UpdateSecretVersionStageCommand,
} from "@aws-sdk/client-secrets-manager";
import { Option } from "@commander-js/extra-typings";
import * as z from "zod/mini";
import { type Role, roles } from "#lib/console/login/roles.ts";
import { mintToken } from "#lib/opaque-token.ts";
import { hashPassword } from "#lib/password-hash.ts";
import { consoleSchema } from "#lib/secrets/schemas.ts";
import { CommandError, WrongCall } from "./command.ts";
import { formatTable } from "./output.ts";
import { cityCommand, noun, openSecret } from "./stage.ts";

type Contents = z.infer<ReturnType<typeof consoleSchema>>;

const open = () => openSecret("messenger-console");

const read = async ({ sdk, id: SecretId }: ReturnType<typeof open>) => {
  const { SecretString, VersionId } = await sdk.send(new GetSecretValueCommand({ SecretId }));
  const contents: Contents = z.parse(consoleSchema(), JSON.parse(SecretString ?? "null"));
  return { contents, versionId: VersionId };
};

const maxAttempts = 5;

/** Whether the stage could not be moved, because another change has moved it. */
const isOvertaken = (error: unknown): boolean =>
  error instanceof Error && ["InvalidParameterException", "ResourceNotFoundException"].includes(error.name);

/** Changes the version that was read; if another one is current meanwhile, reads again. */
const change = async (edit: (users: Contents["users"]) => Contents["users"], attempt = 1): Promise<void> => {
  const secret = open();
  const { sdk, id: SecretId } = secret;
  const { contents, versionId } = await read(secret);
  const SecretString = JSON.stringify({ ...contents, users: edit(contents.users) });
  const VersionStages = ["AWSPENDING"];
  const { VersionId } = await sdk.send(new PutSecretValueCommand({ SecretId, SecretString, VersionStages }));
  // the only operation that compares: it fails unless the version that was read is still the current one
  const move = { VersionStage: "AWSCURRENT", MoveToVersionId: VersionId, RemoveFromVersionId: versionId };
  try {
    await sdk.send(new UpdateSecretVersionStageCommand({ SecretId, ...move }));
  } catch (error) {
    if (!isOvertaken(error)) throw error;
    if (attempt === maxAttempts)
      throw new CommandError("Another change to the operators is in progress. Try again.");
    await change(edit, attempt + 1);
  }
};

/** @throws CommandError when nobody would be left who may do everything. */
const keepAdmin = (before: Contents["users"], after: Contents["users"]): Contents["users"] => {
  const hasAdmin = (users: Contents["users"]) => users.some(({ role }) => role === "admin");
  if (hasAdmin(before) && !hasAdmin(after))
    throw new CommandError(
      `This is the last admin. Add another one first: ${cityCommand("operators", "add", "NAME", "--role", "admin")}`,
    );
  return after;
};

const list = async () => {
  const { users } = (await read(open())).contents;
  const operators = users.map(({ username, role }) => ({ username, role }));
  const text = formatTable(["name", "role"], operators.map(Object.values));
  return {
    text:
      operators.length > 0
        ? text
        : `No operators: nobody can log in. Add one: ${cityCommand("operators", "add", "NAME", "--role", "admin")}`,
    json: { operators },
  };
};

const add = async (username: string, role: Role) => {
  const password = mintToken("");
  const hash = await hashPassword(password);
  await change((users) =>
    keepAdmin(users, [...users.filter((user) => user.username !== username), { username, role, hash }]),
  );
  return {
    text: `${username} is ${role}. Password, shown only now: ${password}`,
    json: { username, role, password },
  };
};

const remove = async (username: string) => {
  await change((users) => {
    const left = users.filter((user) => user.username !== username);
    if (left.length === users.length) throw new CommandError(`No operator ${username}.`);
    return keepAdmin(users, left);
  });
  return { text: `${username} is no longer an operator.`, json: { removed: username } };
};

const readName = (name: string): string => {
  if (name && name.length <= 200) return name;
  throw new WrongCall("The name of an operator has 1 to 200 characters.");
};

export const run = noun(
  "operators",
  "List, add and remove the operators of the messenger's console.\n\n" +
    "viewer sees everything except pairing codes and changes nothing; operator pauses, connects, links and opts numbers out; admin also unlinks. " +
    "Changes take effect within a minute, also for operators who are logged in.",
  (program, answer) => {
    program.command("list").description("list the operators and their roles").action(answer(list));
    program
      .command("add")
      .description("add an operator, or give one a new role and password; prints the password")
      .argument("<name>", "the operator's name", readName)
      .addOption(new Option("--role <role>", "what the operator may do").choices(roles).makeOptionMandatory())
      .action(answer((name, { role }) => add(name, role)));
    program
      .command("remove")
      .description("remove an operator")
      .argument("<name>", "the operator's name", readName)
      .action(answer(remove));
  },
);
