export type ConnectionState = { readonly since: Date } & (
  | { readonly kind: "closed"; readonly code?: number | undefined; readonly retryAt?: Date }
  | { readonly kind: "connecting" }
  /** Waits for a phone to scan `qr`, or to enter `code`. */
  | {
      readonly kind: "pairing";
      readonly qr: string;
      readonly code?: string;
      /** A phone did so, and the platform demands its passkey too. */
      readonly passkey?: true;
    }
  | { readonly kind: "open"; readonly as: string }
  /** An operator has removed the link; pairing starts again. */
  | { readonly kind: "unpaired" }
  /** No login is tried until an operator acts; see platform-codes.ts. */
  | { readonly kind: "stopped"; readonly code: number }
  /** Another connection has replaced this one; `start()` reclaims it, which only the leader may do. */
  | { readonly kind: "replaced" }
);

/** A state without its time. */
export type Stateless<S = ConnectionState> = S extends ConnectionState ? Omit<S, "since"> : never;
