import type { Outgoing } from "../outbox/message.ts";

/** What the platform said to a message. */
export type SendOutcome =
  | { readonly outcome: "acked" }
  /** With the platform's code, such as 463: no new contacts for now. */
  | { readonly outcome: "refused"; readonly code: string };

/** A way to reach a phone, as the sender needs it. */
export interface Channel {
  /** Whether messages can be sent now. */
  isOpen(): boolean;
  isRegistered(phone: string): Promise<boolean>;
  /** Makes what goes out, once for each message; uploads its media. */
  compose(message: Outgoing): Promise<Uint8Array>;
  /** @throws ChannelFailure when no answer came: it says whether the frame may have left. */
  send(payload: Uint8Array, message: Outgoing): Promise<SendOutcome>;
}
