/** An uploaded file as the schema of a multipart body gets it: its bytes, and what the sender says about them. */
export interface Upload {
  readonly content: Buffer;
  /** Without folders; blank where none was sent. */
  readonly fileName: string;
  /** In lower case without parameters; the sender's word, not what the bytes are. */
  readonly contentType: string;
}
