import { type Html, html } from "#lib/html.ts";
import type { MessageFilter, Notice } from "../login/operator-login.ts";
import { isAllowed, type Operator, type Role } from "../login/roles.ts";
import type { ConsoleState } from "../state/state.ts";
import type { Words } from "../words/en.ts";
import type { Language } from "../words/language.ts";

/** What a page of the console shows, and to whom. */
export interface View {
  readonly operator: Operator;
  /** Undefined if it cannot be read. */
  readonly state: ConsoleState | undefined;
  readonly filter: MessageFilter;
  readonly notice: Notice | undefined;
  readonly now: Date;
  readonly language: Language;
  readonly words: Words;
}

export const hiddenUnless = (condition: boolean | undefined): Html | undefined =>
  condition ? undefined : html` hidden`;

export const disabledUnless = (condition: boolean | undefined): Html | undefined =>
  condition ? undefined : html` disabled`;

/** The path of an action on the account that is shown: of several, the form says which one the operator has seen. */
export const pathOf = ({ state }: View, action: string): string => {
  const { account, accounts = [] } = state ?? {};
  const query = accounts.length > 1 && account ? `?${new URLSearchParams({ account })}` : "";
  return `/console/${action}${query}`;
};

export const may = ({ operator }: Pick<View, "operator">, role: Role): boolean => isAllowed(operator, role);
