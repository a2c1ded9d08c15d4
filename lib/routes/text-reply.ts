/** An answer that is no JSON made here: its text, and what its headers say about it. */
export class TextReply {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(text: string, headers: Readonly<Record<string, string>> & { "content-type": string }) {
    this.text = text;
    this.headers = headers;
  }
}
