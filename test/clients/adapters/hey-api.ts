import type { Open } from "../client.ts";
import { client as integrationClient } from "./integration/client.gen.ts";
import * as integration from "./integration/index.ts";
import { client as messagingClient } from "./messaging/client.gen.ts";
import * as messaging from "./messaging/index.ts";

export const open: Open = ({ apiKey, basic: { username, password } }) => {
  let token = "";
  integrationClient.setConfig({
    auth: ({ type }) => (type === "apiKey" ? apiKey : token),
    throwOnError: true,
  });
  messagingClient.setConfig({ auth: () => `${username}:${password}`, throwOnError: true });
  const throwOnError = true;
  return {
    async listResidents() {
      return (await integration.listResidents({ body: { page_size: 3 }, throwOnError })).data;
    },
    async searchResidents(name) {
      return (await integration.searchResidents({ body: { p_nama: name }, throwOnError })).data;
    },
    async login(username, password) {
      return (await integration.login({ body: { username, password }, throwOnError })).data;
    },
    async refresh(refresh_token) {
      const body = { grant_type: "refresh_token", refresh_token } as const;
      return (await integration.refresh({ body, throwOnError })).data;
    },
    async findEmployees(fresh, name) {
      token = fresh;
      const { data } = await integration.readEmployees({ query: { nama: name }, throwOnError });
      return Array.isArray(data.result) ? data.result : [];
    },
    async sendText(phone, message) {
      return (await messaging.sendMessage({ body: { phone, message }, throwOnError })).data.data.id;
    },
    async sendImage(phone, image) {
      const body = { phone, image, caption: "a caption" };
      return (await messaging.sendImage({ body, throwOnError })).data.data.id;
    },
    async sendFile(phone, file) {
      const body = { phone, file, duration: 86_400 };
      return (await messaging.sendFile({ body, throwOnError })).data.results.message_id;
    },
    async readState(id) {
      return (await messaging.readMessage({ path: { id }, throwOnError })).data.data.status;
    },
  };
};
