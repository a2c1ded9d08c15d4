import type { Mutant } from "../mutant.ts";

const ofRoles = ["test/messenger/console/console-roles.test.ts"];
const ofIssuer = ["test/messenger/console/console-issuer.test.ts"];
const ofLogin = ["test/messenger/console/console-login.test.ts"];
const ofState = ["test/messenger/console/console-state.test.ts"];
const ofTask = ["test/messenger/console/console-task.test.ts"];
const ofWaiting = ["test/messenger/send/waiting.test.ts"];

/** What operators may do, and what the console shows them. */
export const ofConsole: readonly Mutant[] = [
  {
    breaks: "The console answers to any name, so that a page elsewhere can read it (DNS rebinding)",
    file: "lib/messenger/console/login/origin.ts",
    find: "names.includes(",
    replace: "!names.includes(",
    tests: ["test/messenger/console/console-login.test.ts"],
    only: "a request to another name",
  },
  {
    breaks: "The console's polling prolongs an idle login",
    file: "lib/messenger/console/login/operator-login.ts",
    find: "if (!isIdle) ",
    replace: "",
    tests: ["test/messenger/console/console-login.test.ts"],
    only: "although the page polls",
  },
  {
    breaks: "Guesses at the console's password are not slowed down",
    file: "lib/messenger/console/login/throttle.ts",
    find: "at + intervalMs",
    replace: "at",
    tests: ["test/messenger/console/console-login.test.ts"],
    only: "checks five attempts at once",
  },
  {
    breaks: "A viewer presses what only an operator may",
    file: "lib/messenger/console/action.ts",
    find: "if (!isAllowed(operator, role)) {",
    replace: 'if (!isAllowed(operator, "viewer") || role === undefined) {',
    tests: ofRoles,
    only: "is performed only for a role that may",
  },
  {
    breaks: "A viewer may link a phone with the QR code",
    file: "lib/messenger/console/phone-section.ts",
    find: "isAllowed ? picture : undefined",
    replace: "picture",
    tests: ofRoles,
    only: "a viewer sees neither",
  },
  {
    breaks: "The messenger may erase what operators did",
    file: "lib/db/migrations/0013.do.messaging.sql",
    find: "revoke update, delete on messaging.operator_act, messaging.operator_result from municipal_messenger;\n",
    replace: "",
    tests: ofRoles,
    only: "adds to the record and reads it",
  },
  {
    breaks: "Any password of an operator is right",
    file: "lib/messenger/console/login/local-users.ts",
    find: "user && isRight ?",
    replace: "user && (isRight || true) ?",
    tests: ofLogin,
    only: "with the same message",
  },
  {
    breaks: "An ID token that anybody has signed is accepted",
    file: "lib/messenger/console/login/issuer.ts",
    find: "client.enableNonRepudiationChecks, ",
    replace: "",
    tests: ofIssuer,
    only: "that another key has signed",
  },
  {
    breaks: "A login of another browser is completed with a stolen code",
    file: "lib/messenger/console/login/pending-login.ts",
    find: "const found = this.#attempts.get(key);",
    replace: "const found = this.#attempts.get(key) ?? [...this.#attempts.values()][0];",
    tests: ofIssuer,
    only: "has not begun it",
  },
  {
    breaks: "Operators who read while the database is slow take the connections of the sender",
    file: "lib/messenger/task.ts",
    find: "connect(consolePoolSize)",
    replace: "connect(poolSize)",
    tests: ofTask,
    only: "the sender's connections stay free",
  },
  {
    breaks: "The console calls a slow database unavailable",
    file: "lib/messenger/console/state.ts",
    find: "if (!(await isDatabaseUp()))",
    replace: "if ((await isDatabaseUp()) || error)",
    tests: ofState,
    only: "slow although it answers others",
  },
  {
    breaks: "The console explains another limit than the one that holds new contacts back",
    file: "lib/messenger/send/pacing.ts",
    find: "isNewContact && priority > upTo",
    replace: "isNewContact && priority >= upTo && upTo < 0",
    tests: ofWaiting,
    only: "the spread of what is left",
  },
];
