/** An uploaded file in the body of a multipart request. */
export interface Upload {
  readonly content: Buffer;
  /** Without folders; blank if none was sent. */
  readonly fileName: string;
  /** In lower case without parameters; as sent, not checked against the content. */
  readonly contentType: string;
}
