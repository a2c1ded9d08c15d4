import type { Outgoing } from "../outbox/message.ts";

/** The platform's answer to a message. */
export type SendOutcome =
  | { readonly outcome: "acked" }
  /** With the platform's error code, such as 463: no new contacts for now. */
  | { readonly outcome: "refused"; readonly code: string };

/** A platform that delivers messages to phones, as the sender uses it. */
export interface Channel {
  /** Whether messages can be sent now. */
  isOpen(): boolean;
  isRegistered(phone: string): Promise<boolean>;
  /** Builds the payload, once for each message, and uploads its media. */
  compose(message: Outgoing): Promise<Uint8Array>;
  /** @throws ChannelFailure when no answer arrived; it says whether the frame may have left. */
  send(payload: Uint8Array, message: Outgoing): Promise<SendOutcome>;
}
