/** The messenger: the program of a container, not a Lambda. It holds the connection to WhatsApp. */
import { runMessenger } from "#lib/messenger/program.ts";

await runMessenger();
