/** What a caller does with a generated client; each adapter does it in the way of its generator. */
export interface Client {
  listResidents(): Promise<ResidentPage>;
  searchResidents(name: string): Promise<ResidentPage>;
  login(username: string, password: string): Promise<Tokens>;
  refresh(token: string): Promise<Tokens>;
  findEmployees(token: string, name: string): Promise<readonly Employee[]>;
  sendText(phone: string, text: string): Promise<MessageId>;
  sendImage(phone: string, image: Blob): Promise<MessageId>;
  sendFile(phone: string, file: Blob): Promise<MessageId>;
  readState(id: MessageId): Promise<string>;
}

type MessageId = string;

interface ResidentPage {
  /** Null where the partner's agreement lacks the field. */
  readonly data: readonly { readonly nama: string | null; readonly created_at: string | null }[];
  readonly total: number;
  readonly page: number;
}

interface Tokens {
  readonly token: string;
  readonly expires_in: number;
  readonly refresh_token: string;
}

interface Employee {
  readonly peg_nama: string;
  readonly peg_nip_baru: string;
}

/** What a caller has to know beside the documents. Only openapi-fetch needs the addresses, which the documents contain. */
interface Access {
  readonly baseUrl: string;
  readonly messagingBaseUrl: string;
  readonly apiKey: string;
  readonly basic: { readonly username: string; readonly password: string };
}

export type Open = (access: Access) => Client;
