/** A reply that is sent as is, with its own headers. */
export class TextReply {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(text: string, headers: Readonly<Record<string, string>> & { "content-type": string }) {
    this.text = text;
    this.headers = headers;
  }
}
