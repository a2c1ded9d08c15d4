import type { Open } from "../client.ts";
import { client as integration } from "./integration.ts";
import { client as messaging } from "./messaging.ts";

const toForm = (fields: Readonly<Record<string, string | Blob>>): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
};

export const open: Open = ({ apiKey, basic: { username, password } }) => {
  integration.auth.apiKey("apiKey", apiKey);
  messaging.auth.basic(username, password);
  return {
    listResidents: () => integration.listResidents({ body: { page_size: 3 } }),
    searchResidents: (name) => integration.searchResidents({ body: { p_nama: name } }),
    login: (username, password) => integration.login({ body: { username, password } }),
    refresh: (refresh_token) =>
      integration.refresh({ body: new URLSearchParams({ grant_type: "refresh_token", refresh_token }) }),
    async findEmployees(token, name) {
      integration.auth.bearer(token);
      const { result } = await integration.readEmployees({ query: { nama: name } });
      return Array.isArray(result) ? result : [];
    },
    async sendText(phone, message) {
      return (await messaging.sendMessage({ body: { phone, message } })).data.id;
    },
    async sendImage(phone, image) {
      return (await messaging.sendImage({ body: toForm({ phone, image, caption: "a caption" }) })).data.id;
    },
    async sendFile(phone, file) {
      const { results } = await messaging.sendFile({ body: toForm({ phone, file, duration: "86400" }) });
      return results.message_id;
    },
    async readState(id) {
      return (await messaging.readMessage({ path: { id } })).data.status;
    },
  };
};
